#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define HEIGHT 70
#define WIDTH 110

const int BX = 32, BY = 8;

// The tile is loaded for one image after the other, with clamped coordinates.
__global__ void census_tile(const float* left, const float* right, unsigned int* signature, int* cost) {
    __shared__ float t[BY + 4][BX + 4];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    unsigned int bits[2];
    for (int image = 0; image < 2; ++image) {
        const float* src = image == 0 ? left : right;
        for (int k = threadIdx.y * BX + threadIdx.x; k < (BX + 4) * (BY + 4); k += BX * BY) {
            int gx = (int)(blockIdx.x * BX) + k % (BX + 4) - 2, gy = (int)(blockIdx.y * BY) + k / (BX + 4) - 2;
            gx = min(max(gx, 0), WIDTH - 1);
            gy = min(max(gy, 0), HEIGHT - 1);
            t[k / (BX + 4)][k % (BX + 4)] = src[gy * WIDTH + gx];
        }
        __syncthreads();
        const float mid = t[threadIdx.y + 2][threadIdx.x + 2];
        unsigned int b = 0;
        for (int k = 0; k < 25; ++k)
            if (k != 12) b = 2 * b + (t[threadIdx.y + k / 5][threadIdx.x + k % 5] < mid);
        bits[image] = b;
        __syncthreads();
    }
    if (x < WIDTH && y < HEIGHT) {
        signature[y * WIDTH + x] = bits[0];
        cost[y * WIDTH + x] = __popc(bits[0] ^ bits[1]);
    }
}

int main() {
    const int count = HEIGHT * WIDTH;
    std::vector<float> h_left(count), h_right(count);
    std::vector<unsigned int> h_signature(count);
    std::vector<int> h_cost(count);
    FILE* f0 = fopen("data/left.bin", "rb");
    if (!f0 || fread(h_left.data(), count * sizeof(float), 1, f0) != 1) return 1;
    fclose(f0);
    FILE* f1 = fopen("data/right.bin", "rb");
    if (!f1 || fread(h_right.data(), count * sizeof(float), 1, f1) != 1) return 1;
    fclose(f1);
    float *d_left, *d_right;
    unsigned int *d_signature;
    int *d_cost;
    cudaMalloc(&d_left, count * sizeof(float));
    cudaMalloc(&d_right, count * sizeof(float));
    cudaMalloc(&d_signature, count * sizeof(unsigned int));
    cudaMalloc(&d_cost, count * sizeof(int));
    cudaMemcpy(d_left, h_left.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, h_right.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(BX, BY);
    dim3 grid((WIDTH + BX - 1) / BX, (HEIGHT + BY - 1) / BY);
    census_tile<<<grid, block>>>(d_left, d_right, d_signature, d_cost);
    cudaMemcpy(h_signature.data(), d_signature, count * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_cost.data(), d_cost, count * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/signature.bin", "wb");
    fwrite(h_signature.data(), count * sizeof(unsigned int), 1, o0);
    fclose(o0);
    FILE* o1 = fopen("data/cost.bin", "wb");
    fwrite(h_cost.data(), count * sizeof(int), 1, o1);
    fclose(o1);
    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_signature);
    cudaFree(d_cost);
    return 0;
}
