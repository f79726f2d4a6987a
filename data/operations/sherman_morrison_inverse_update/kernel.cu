#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kN = 100;
constexpr int kStrip = 16;

// A block sweeps a strip of rows once: its warps finish p for those rows and add their share of g and of v^T p.
__global__ void sweep(const float* __restrict__ inv, const float* __restrict__ u, const float* __restrict__ v,
                      float* __restrict__ p, float* __restrict__ g, float* __restrict__ vp) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = blockIdx.x * kStrip;
    const int last = min(first + kStrip, kN);
    for (int i = first + warp; i < last; i += 8) {
        float sum = 0.0f;
        for (int k = lane; k < kN; k += 32) sum = fmaf(inv[i * kN + k], u[k], sum);
        for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
        if (lane == 0) {
            p[i] = sum;
            atomicAdd(vp, v[i] * sum);
        }
    }
    for (int j = threadIdx.x; j < kN; j += 256) {
        float sum = 0.0f;
        for (int i = first; i < last; ++i) sum = fmaf(v[i], inv[i * kN + j], sum);
        atomicAdd(&g[j], sum);
    }
}

__global__ void subtract_outer(const float* __restrict__ inv, const float* __restrict__ p,
        const float* __restrict__ g,
                               const float* __restrict__ vp, float* __restrict__ updated,
                               float* __restrict__ denominator) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= kN) return;
    const float d = 1.0f + *vp;
    const float scaled = g[j] / d;
    for (int i = blockIdx.y; i < kN; i += gridDim.y) updated[i * kN + j] = fmaf(-p[i], scaled, inv[i * kN + j]);
    if (j == 0 && blockIdx.y == 0) denominator[0] = d;
}

int main() {
    constexpr size_t inv_elems = (size_t)kN * kN;
    auto host_inv = load_file<float>("data/inv.bin", inv_elems);
    auto host_u = load_file<float>("data/u.bin", kN);
    auto host_v = load_file<float>("data/v.bin", kN);
    std::vector<float> host_updated(inv_elems);
    std::vector<float> host_denominator(1);

    float* d_inv = nullptr;
    float* d_u = nullptr;
    float* d_v = nullptr;
    float* d_updated = nullptr;
    float* d_denominator = nullptr;
    float* d_p = nullptr;
    float* d_g = nullptr;
    float* d_vp = nullptr;
    cudaMalloc(&d_inv, inv_elems * sizeof(float));
    cudaMalloc(&d_u, kN * sizeof(float));
    cudaMalloc(&d_v, kN * sizeof(float));
    cudaMalloc(&d_updated, inv_elems * sizeof(float));
    cudaMalloc(&d_denominator, 1 * sizeof(float));
    cudaMalloc(&d_p, kN * sizeof(float));
    cudaMalloc(&d_g, kN * sizeof(float));
    cudaMalloc(&d_vp, 1 * sizeof(float));
    cudaMemcpy(d_inv, host_inv.data(), inv_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_u, host_u.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, host_v.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_g, 0, kN * sizeof(float));
    cudaMemset(d_vp, 0, 1 * sizeof(float));

    sweep<<<(kN + kStrip - 1) / kStrip, 256>>>(d_inv, d_u, d_v, d_p, d_g, d_vp);
    dim3 grid((kN + 127) / 128, kN < 128 ? kN : 128);
    subtract_outer<<<grid, 128>>>(d_inv, d_p, d_g, d_vp, d_updated, d_denominator);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(host_updated.data(), d_updated, inv_elems * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/updated.bin", host_updated);
    cudaMemcpy(host_denominator.data(), d_denominator, 1 * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/denominator.bin", host_denominator);
    cudaFree(d_inv);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_updated);
    cudaFree(d_denominator);
    cudaFree(d_p);
    cudaFree(d_g);
    cudaFree(d_vp);
    return 0;
}
