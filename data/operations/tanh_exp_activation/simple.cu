#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

static const int N = 15001;

__global__ void tanhexp_kernel(const float* signal, float* activated, int n) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        const float v = signal[idx];
        activated[idx] = v * tanhf(expf(fminf(v, 20.0f)));
    }
}

int main() {
    const size_t bytes = N * sizeof(float);
    std::vector<float> h_signal(N);
    std::vector<float> h_activated(N);
    std::ifstream in("data/signal.bin", std::ios::binary);
    in.read(reinterpret_cast<char*>(h_signal.data()), bytes);
    if (!in) {
        std::cerr << "missing or incomplete file data/signal.bin" << std::endl;
        return 1;
    }

    float* d_signal;
    float* d_activated;
    cudaMalloc(&d_signal, bytes);
    cudaMalloc(&d_activated, bytes);
    cudaMemcpy(d_signal, h_signal.data(), bytes, cudaMemcpyHostToDevice);
    int threadsPerBlock = 256;
    int numBlocks = (N + threadsPerBlock - 1) / threadsPerBlock;
    tanhexp_kernel<<<numBlocks, threadsPerBlock>>>(d_signal, d_activated, N);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_activated.data(), d_activated, bytes, cudaMemcpyDeviceToHost);
    std::ofstream result_file("data/activated.bin", std::ios::binary);
    result_file.write(reinterpret_cast<char*>(h_activated.data()), bytes);

    cudaFree(d_activated);
    cudaFree(d_signal);
    return 0;
}
