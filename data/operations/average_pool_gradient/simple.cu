#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_binary(const std::string& path, void* data, size_t bytes) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(data), bytes);
    if (!stream) {
        std::cerr << "failed to read " << path << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), bytes);
}
//@given

const int kPlanes = 6;
const int kHeight = 70;
const int kWidth = 90;

static inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

const int H2 = kHeight / 2;
const int W2 = kWidth / 2;

__device__ int covered(int i, int size) {
    return min(2 * i + 1, size - 1) - max(2 * i - 1, 0) + 1;
}

__global__ void pool_gradient(const float* grad_out, float* grad_in) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= kHeight || c >= kWidth) return;
    const float* g = grad_out + (size_t)blockIdx.z * H2 * W2;
    float sum = 0.0f;
    // windows i with 2i - 1 <= r <= 2i + 1
    for (int i = r / 2; i <= (r + 1) / 2; ++i) {
        if (i >= H2) continue;
        for (int j = c / 2; j <= (c + 1) / 2; ++j) {
            if (j >= W2) continue;
            sum += g[i * W2 + j] / (covered(i, kHeight) * covered(j, kWidth));
        }
    }
    grad_in[((size_t)blockIdx.z * kHeight + r) * kWidth + c] = sum;
}

int main() {
    const int grad_out_size = kPlanes * (kHeight / 2) * (kWidth / 2);
    const int grad_in_size = kPlanes * kHeight * kWidth;
    float* host_grad_out = new float[grad_out_size];
    float* host_grad_in = new float[grad_in_size];
    read_binary("data/grad_out.bin", host_grad_out, grad_out_size * sizeof(float));

    float *d_grad_out, *d_grad_in;
    cudaMalloc((void**)&d_grad_out, grad_out_size * sizeof(float));
    cudaMalloc((void**)&d_grad_in, grad_in_size * sizeof(float));
    cudaMemcpy(d_grad_out, host_grad_out, grad_out_size * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid(ceil_div(kWidth, 32), ceil_div(kHeight, 8), kPlanes);
    pool_gradient<<<grid, block>>>(d_grad_out, d_grad_in);
    cudaDeviceSynchronize();

    cudaMemcpy(host_grad_in, d_grad_in, grad_in_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/grad_in.bin", host_grad_in, grad_in_size * sizeof(float));

    cudaFree(d_grad_out);
    cudaFree(d_grad_in);
    delete[] host_grad_out;
    delete[] host_grad_in;
    return 0;
}
