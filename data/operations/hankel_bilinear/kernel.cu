#include <fstream>
#include <iostream>
#include <string>
#include <cstdlib>
#include <cuda_runtime.h>

void load(const std::string& path, float* buffer, size_t n) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(buffer), n * sizeof(float));
    if (!stream) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void save(const std::string& path, const float* buffer, size_t n) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(buffer), n * sizeof(float));
}
//@given

constexpr int kSeries = 40;
constexpr int kM = 30;
constexpr int kN = 40;

// One block per series does both steps.
__global__ void hankel_fused(const float* __restrict__ h, const float* __restrict__ u, const float* __restrict__ v,
                             float* __restrict__ value, float* __restrict__ hv) {
    __shared__ float row[kM + kN - 1];
    __shared__ float vs[kN];
    __shared__ float partial[4];
    const int s = blockIdx.x, t = threadIdx.x;
    for (int k = t; k < kM + kN - 1; k += 128) row[k] = h[(size_t)s * (kM + kN - 1) + k];
    for (int k = t; k < kN; k += 128) vs[k] = v[k];
    __syncthreads();
    float total = 0.0f;
    for (int i = t; i < kM; i += 128) {
        float sum = 0.0f;
        for (int j = 0; j < kN; ++j) sum = fmaf(row[i + j], vs[j], sum);
        hv[s * kM + i] = sum;
        total = fmaf(u[i], sum, total);
    }
    for (int d = 16; d > 0; d >>= 1) total += __shfl_down_sync(0xffffffffu, total, d);
    if (t % 32 == 0) partial[t / 32] = total;
    __syncthreads();
    if (t == 0) value[s] = partial[0] + partial[1] + partial[2] + partial[3];
}

int main() {
    const size_t n_h = (size_t)kSeries * (kM + kN - 1);
    const size_t n_hv = (size_t)kSeries * kM;
    float* h_h = new float[n_h];
    float* h_u = new float[kM];
    float* h_v = new float[kN];
    float* h_value = new float[kSeries];
    float* h_hv = new float[n_hv];
    load("data/h.bin", h_h, n_h);
    load("data/u.bin", h_u, kM);
    load("data/v.bin", h_v, kN);

    float *d_h, *d_u, *d_v, *d_value, *d_hv;
    cudaMalloc(&d_h, n_h * sizeof(float));
    cudaMalloc(&d_u, kM * sizeof(float));
    cudaMalloc(&d_v, kN * sizeof(float));
    cudaMalloc(&d_value, kSeries * sizeof(float));
    cudaMalloc(&d_hv, n_hv * sizeof(float));
    cudaMemcpy(d_h, h_h, n_h * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_u, h_u, kM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v, kN * sizeof(float), cudaMemcpyHostToDevice);

    hankel_fused<<<kSeries, 128>>>(d_h, d_u, d_v, d_value, d_hv);
    cudaDeviceSynchronize();

    cudaMemcpy(h_value, d_value, kSeries * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hv, d_hv, n_hv * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/value.bin", h_value, kSeries);
    save("data/hv.bin", h_hv, n_hv);

    cudaFree(d_h);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_value);
    cudaFree(d_hv);
    delete[] h_h;
    delete[] h_u;
    delete[] h_v;
    delete[] h_value;
    delete[] h_hv;
    return 0;
}
