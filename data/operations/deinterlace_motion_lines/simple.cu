#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int HEIGHT = 60;
const int WIDTH = 80;

__global__ void deinterlace(const unsigned char* current, const unsigned char* previous, unsigned char* frame,
                            int* replaced) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= WIDTH) return;
    int i = y * WIDTH + x;
    int value = current[i];
    if (y % 2 == 1 && abs(value - previous[i]) > 12) {
        int above = current[i - WIDTH];
        int below = y + 1 < HEIGHT ? current[i + WIDTH] : above;
        value = (above + below + 1) / 2;
        atomicAdd(&replaced[y], 1);
    }
    frame[i] = (unsigned char)value;
}

int main() {
    const size_t count = HEIGHT * WIDTH;
    std::vector<unsigned char> h_current(count);
    std::vector<unsigned char> h_previous(count);
    std::vector<unsigned char> h_frame(count);
    std::vector<int> h_replaced(HEIGHT);

    std::ifstream in_current("data/current.bin", std::ios::binary);
    in_current.read(reinterpret_cast<char*>(h_current.data()), count * sizeof(unsigned char));
    if (!in_current) {
        std::cerr << "could not read data/current.bin" << std::endl;
        return 1;
    }
    std::ifstream in_previous("data/previous.bin", std::ios::binary);
    in_previous.read(reinterpret_cast<char*>(h_previous.data()), count * sizeof(unsigned char));
    if (!in_previous) {
        std::cerr << "could not read data/previous.bin" << std::endl;
        return 1;
    }

    unsigned char *d_current = nullptr, *d_previous = nullptr, *d_frame = nullptr;
    int *d_replaced = nullptr;
    cudaMalloc(&d_current, count * sizeof(unsigned char));
    cudaMalloc(&d_previous, count * sizeof(unsigned char));
    cudaMalloc(&d_frame, count * sizeof(unsigned char));
    cudaMalloc(&d_replaced, HEIGHT * sizeof(int));
    cudaMemcpy(d_current, h_current.data(), count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_previous, h_previous.data(), count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemset(d_replaced, 0, HEIGHT * sizeof(int));

    dim3 grid((WIDTH + 256 - 1) / 256, HEIGHT);
    deinterlace<<<grid, 256>>>(d_current, d_previous, d_frame, d_replaced);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_frame.data(), d_frame, count * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_replaced.data(), d_replaced, HEIGHT * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_frame("data/frame.bin", std::ios::binary);
    out_frame.write(reinterpret_cast<char*>(h_frame.data()), count * sizeof(unsigned char));
    std::ofstream out_replaced("data/replaced.bin", std::ios::binary);
    out_replaced.write(reinterpret_cast<char*>(h_replaced.data()), HEIGHT * sizeof(int));

    cudaFree(d_current);
    cudaFree(d_previous);
    cudaFree(d_frame);
    cudaFree(d_replaced);
    return 0;
}
