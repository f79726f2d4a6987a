#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kPlanes = 6;
constexpr int kHeight = 70;
constexpr int kWidth = 90;

// Scatter form: one thread a window, its share is added to the pixels with atomics.
__global__ void spread_windows(const float* __restrict__ grad_out, float* __restrict__ grad_in) {
    const int h2 = kHeight / 2, w2 = kWidth / 2;
    const int n = kPlanes * h2 * w2;
    const int step = gridDim.x * blockDim.x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += step) {
        const int j = k % w2, i = k / w2 % h2, p = k / (w2 * h2);
        const int r0 = max(2 * i - 1, 0), r1 = min(2 * i + 1, kHeight - 1);
        const int c0 = max(2 * j - 1, 0), c1 = min(2 * j + 1, kWidth - 1);
        const float share = grad_out[k] / ((r1 - r0 + 1) * (c1 - c0 + 1));
        float* plane = grad_in + (size_t)p * kHeight * kWidth;
        for (int r = r0; r <= r1; ++r)
            for (int c = c0; c <= c1; ++c) atomicAdd(&plane[r * kWidth + c], share);
    }
}

int main() {
    const int grad_out_size = kPlanes * (kHeight / 2) * (kWidth / 2);
    const int grad_in_size = kPlanes * kHeight * kWidth;
    std::vector<float> h_grad_out(grad_out_size);
    std::vector<float> h_grad_in(grad_in_size);
    std::ifstream in_grad_out("data/grad_out.bin", std::ios::binary);
    in_grad_out.read((char*)h_grad_out.data(), grad_out_size * sizeof(float));
    if (!in_grad_out) {
        std::cerr << "cannot read data/grad_out.bin" << std::endl;
        return 1;
    }

    float* d_grad_out;
    float* d_grad_in;
    cudaMalloc(&d_grad_out, grad_out_size * sizeof(float));
    cudaMalloc(&d_grad_in, grad_in_size * sizeof(float));
    cudaMemcpy(d_grad_out, h_grad_out.data(), grad_out_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_grad_in, 0, grad_in_size * sizeof(float));

    int windows = kPlanes * (kHeight / 2) * (kWidth / 2);
    int blocks = (windows + 256 - 1) / 256;
    spread_windows<<<blocks < 8192 ? blocks : 8192, 256>>>(d_grad_out, d_grad_in);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_grad_in.data(), d_grad_in, grad_in_size * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_grad_in("data/grad_in.bin", std::ios::binary);
    out_grad_in.write((char*)h_grad_in.data(), grad_in_size * sizeof(float));

    cudaFree(d_grad_out);
    cudaFree(d_grad_in);
    return 0;
}
