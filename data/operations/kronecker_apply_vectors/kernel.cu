#include <fstream>
#include <iostream>
#include <string>
#include <cstdlib>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float* ptr, size_t count) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(ptr), count * sizeof(float));
    if (!stream) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& path, const float* ptr, size_t count) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(ptr), count * sizeof(float));
}
//@given

constexpr int kBatch = 8;
constexpr int kM = 15;
constexpr int kN = 21;

// One block a vector; the intermediate A X never leaves shared memory.
__global__ void kron_apply(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ x,
                           float* __restrict__ y) {
    __shared__ float xs[kM * kN];
    __shared__ float ax[kM * kN];
    __shared__ float bt[kN * (kN + 1)];
    const float* in = x + (size_t)blockIdx.x * (kM * kN);
    for (int e = threadIdx.x; e < kM * kN; e += blockDim.x) xs[e] = in[e];
    for (int e = threadIdx.x; e < kN * kN; e += blockDim.x) bt[(e % kN) * (kN + 1) + e / kN] = b[e];
    __syncthreads();
    for (int e = threadIdx.x; e < kM * kN; e += blockDim.x) {
        const int i = e / kN, v = e % kN;
        float sum = 0.0f;
        for (int j = 0; j < kM; ++j) sum = fmaf(a[i * kM + j], xs[j * kN + v], sum);
        ax[e] = sum;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < kM * kN; e += blockDim.x) {
        const int i = e / kN, u = e % kN;
        float sum = 0.0f;
        for (int v = 0; v < kN; ++v) sum = fmaf(ax[i * kN + v], bt[v * (kN + 1) + u], sum);
        y[(size_t)blockIdx.x * (kM * kN) + e] = sum;
    }
}

int main() {
    const size_t a_elems = (size_t)kM * kM;
    const size_t b_elems = (size_t)kN * kN;
    const size_t x_elems = (size_t)kBatch * kM * kN;
    float* h_a = new float[a_elems];
    float* h_b = new float[b_elems];
    float* h_x = new float[x_elems];
    float* h_y = new float[x_elems];
    read_binary("data/a.bin", h_a, a_elems);
    read_binary("data/b.bin", h_b, b_elems);
    read_binary("data/x.bin", h_x, x_elems);

    float* d_a;
    cudaMalloc((void**)&d_a, a_elems * sizeof(float));
    float* d_b;
    cudaMalloc((void**)&d_b, b_elems * sizeof(float));
    float* d_x;
    cudaMalloc(&d_x, x_elems * sizeof(float));
    float* d_y;
    cudaMalloc(&d_y, x_elems * sizeof(float));
    cudaMemcpy(d_a, h_a, a_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, b_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x, x_elems * sizeof(float), cudaMemcpyHostToDevice);

    kron_apply<<<kBatch, 256>>>(d_a, d_b, d_x, d_y);

    cudaMemcpy(h_y, d_y, x_elems * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, x_elems);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    cudaFree(d_y);
    delete[] h_a;
    delete[] h_b;
    delete[] h_x;
    delete[] h_y;
    return 0;
}
