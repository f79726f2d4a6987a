#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& filename, void* buffer, size_t num_bytes) {
    std::ifstream file(filename, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), num_bytes);
    if (!file) {
        std::cerr << "cannot read " << filename << "\n";
        exit(1);
    }
}

void write_binary(const std::string& filename, const void* buffer, size_t num_bytes) {
    std::ofstream stream(filename, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(buffer), num_bytes);
}
//@given

constexpr int kBatch = 3;
constexpr int kChannels = 20;
constexpr int kPixels = 400;

__global__ void frn_tlu(const float* x, const float* gamma, const float* beta, const float* tau, float* y) {
    __shared__ float sq[128];
    const int plane = blockIdx.x;
    const int c = plane % kChannels;
    const float* in = x + (size_t)plane * kPixels;
    float* out = y + (size_t)plane * kPixels;

    float acc = 0.0f;
    for (int p = threadIdx.x; p < kPixels; p += 128) acc += in[p] * in[p];
    sq[threadIdx.x] = acc;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) sq[threadIdx.x] += sq[threadIdx.x + s];
        __syncthreads();
    }
    const float scale = gamma[c] / sqrtf(sq[0] / kPixels + 1e-6f);
    for (int p = threadIdx.x; p < kPixels; p += 128) out[p] = fmaxf(scale * in[p] + beta[c], tau[c]);
}

int main() {
    const int x_elems = kBatch * kChannels * kPixels;
    float* h_x = new float[x_elems];
    float* h_gamma = new float[kChannels];
    float* h_beta = new float[kChannels];
    float* h_tau = new float[kChannels];
    float* h_y = new float[x_elems];
    read_binary("data/x.bin", h_x, x_elems * sizeof(float));
    read_binary("data/gamma.bin", h_gamma, kChannels * sizeof(float));
    read_binary("data/beta.bin", h_beta, kChannels * sizeof(float));
    read_binary("data/tau.bin", h_tau, kChannels * sizeof(float));

    float* d_x;
    float* d_gamma;
    float* d_beta;
    float* d_tau;
    float* d_y;
    cudaMalloc(&d_x, x_elems * sizeof(float));
    cudaMalloc(&d_gamma, kChannels * sizeof(float));
    cudaMalloc(&d_beta, kChannels * sizeof(float));
    cudaMalloc(&d_tau, kChannels * sizeof(float));
    cudaMalloc(&d_y, x_elems * sizeof(float));
    cudaMemcpy(d_x, h_x, x_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gamma, h_gamma, kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_beta, h_beta, kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_tau, h_tau, kChannels * sizeof(float), cudaMemcpyHostToDevice);

    frn_tlu<<<kBatch * kChannels, 128>>>(d_x, d_gamma, d_beta, d_tau, d_y);

    cudaMemcpy(h_y, d_y, x_elems * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, x_elems * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_gamma);
    cudaFree(d_beta);
    cudaFree(d_tau);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_gamma;
    delete[] h_beta;
    delete[] h_tau;
    delete[] h_y;
    return 0;
}
