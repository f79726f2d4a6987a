#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int kHeight = 60;
const int kWidth = 100;
const int kSteps = 5;

__global__ void brain_step(const unsigned char* s, unsigned char* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    int state = s[y * kWidth + x];
    int next = state == 1 ? 2 : 0;
    if (state == 0) {
        int firing = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                int yy = (y + dy + kHeight) % kHeight;
                int xx = (x + dx + kWidth) % kWidth;
                firing += s[yy * kWidth + xx] == 1;
            }
        next = firing == 2 ? 1 : 0;
    }
    out[y * kWidth + x] = next;
}

int main() {
    const size_t n = (size_t)kHeight * kWidth;
    std::vector<unsigned char> h_grid_in(n);
    std::vector<unsigned char> h_grid_out(n);
    std::ifstream in("data/grid_in.bin", std::ios::binary);
    if (!in.read((char*)h_grid_in.data(), h_grid_in.size() * sizeof(unsigned char))) {
        std::cerr << "grid_in.bin: read failed" << std::endl;
        return 1;
    }

    unsigned char* d_grid_in;
    unsigned char* d_grid_out;
    unsigned char* d_scratch;
    cudaMalloc(&d_grid_in, n * sizeof(unsigned char));
    cudaMalloc(&d_grid_out, n * sizeof(unsigned char));
    cudaMalloc(&d_scratch, n * sizeof(unsigned char));
    cudaMemcpy(d_grid_in, h_grid_in.data(), n * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kWidth + 31) / 32, (kHeight + 7) / 8);
    const unsigned char* src = d_grid_in;
    for (int s = 0; s < kSteps; ++s) {
        unsigned char* dst = (kSteps - s) % 2 ? d_grid_out : d_scratch;
        brain_step<<<grid, block>>>(src, dst);
        src = dst;
    }

    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_grid_out.data(), d_grid_out, n * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out("data/grid_out.bin", std::ios::binary);
    out.write((const char*)h_grid_out.data(), h_grid_out.size() * sizeof(unsigned char));
    cudaFree(d_grid_in);
    cudaFree(d_grid_out);
    cudaFree(d_scratch);
    return 0;
}
