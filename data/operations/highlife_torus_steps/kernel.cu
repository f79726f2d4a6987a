#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int HEIGHT = 60;
const int WIDTH = 100;
const int TX = 32;
const int TY = 8;

// Survival and birth as bit sets over the number of neighbours.
__global__ void highlife_tile(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int* living) {
    __shared__ unsigned char tile[TY + 2][TX + 2];
    const int x0 = blockIdx.x * TX - 1, y0 = blockIdx.y * TY - 1;
    for (int k = threadIdx.y * TX + threadIdx.x; k < (TY + 2) * (TX + 2); k += TX * TY) {
        int y = y0 + k / (TX + 2), x = x0 + k % (TX + 2);
        y = (y + HEIGHT) % HEIGHT;
        x = (x + WIDTH) % WIDTH;
        tile[k / (TX + 2)][k % (TX + 2)] = in[y * WIDTH + x];
    }
    __syncthreads();
    const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
    int next = 0;
    if (x < WIDTH && y < HEIGHT) {
        const unsigned char* a = &tile[threadIdx.y][threadIdx.x];
        const unsigned char* b = &tile[threadIdx.y + 1][threadIdx.x];
        const unsigned char* c = &tile[threadIdx.y + 2][threadIdx.x];
        int around = a[0] + a[1] + a[2] + b[0] + b[2] + c[0] + c[1] + c[2];
        int rule = b[1] ? 0x0c : 0x48;
        next = (rule >> around) & 1;
        out[y * WIDTH + x] = (unsigned char)next;
    }
    const unsigned int votes = __ballot_sync(0xffffffffu, next);
    if (threadIdx.x == 0 && votes) atomicAdd(living, __popc(votes));
}

int main() {
    const size_t count = (size_t)HEIGHT * WIDTH;
    std::vector<unsigned char> h_start(count);
    std::vector<unsigned char> h_final(count);
    std::vector<int> h_population(8);

    std::ifstream input("data/start.bin", std::ios::binary);
    input.read((char*)(h_start.data()), count * sizeof(unsigned char));
    if (!input) {
        std::cerr << "could not read data/start.bin" << std::endl;
        return 1;
    }

    unsigned char *d_start = nullptr, *d_final = nullptr, *d_other = nullptr;
    int *d_population = nullptr;
    cudaMalloc(&d_start, count * sizeof(unsigned char));
    cudaMalloc(&d_final, count * sizeof(unsigned char));
    cudaMalloc(&d_population, 8 * sizeof(int));
    cudaMalloc(&d_other, HEIGHT * WIDTH * sizeof(unsigned char));
    cudaMemcpy(d_start, h_start.data(), count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemset(d_population, 0, 8 * sizeof(int));

    dim3 block(TX, TY), grid((WIDTH + TX - 1) / TX, (HEIGHT + TY - 1) / TY);
    highlife_tile<<<grid, block>>>(d_start, d_other, d_population);
    for (int k = 1; k < 8; k += 2) {
        highlife_tile<<<grid, block>>>(d_other, d_final, d_population + k);
        if (k < 7) highlife_tile<<<grid, block>>>(d_final, d_other, d_population + k + 1);
    }
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_final.data(), d_final, count * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_population.data(), d_population, 8 * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_final("data/final.bin", std::ios::binary);
    out_final.write((char*)(h_final.data()), count * sizeof(unsigned char));
    std::ofstream out_population("data/population.bin", std::ios::binary);
    out_population.write((char*)(h_population.data()), 8 * sizeof(int));

    cudaFree(d_start);
    cudaFree(d_final);
    cudaFree(d_population);
    cudaFree(d_other);
    return 0;
}
