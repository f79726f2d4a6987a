#include <cuda_runtime.h>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& path, void* buffer, size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(buffer), bytes)) {
        std::cerr << "Error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void save(const std::string& path, const void* buffer, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buffer), bytes);
}
//@given

constexpr int kN = 20000;
constexpr int kBlock = 256;
constexpr int kGrid = 64;

__device__ void combine(int& n, int& first, float& d, int& at, int n2, int first2, float d2, int at2) {
    n += n2;
    first = min(first, first2);
    if (d2 > d || (d2 == d && at2 < at)) {
        d = d2;
        at = at2;
    }
}

__global__ void compare(const float* a, const float* b, int* counts, int* firsts, int* places, float* diffs) {
    __shared__ int n[kBlock], first[kBlock], at[kBlock];
    __shared__ float d[kBlock];
    int t = threadIdx.x;
    n[t] = 0;
    first[t] = INT_MAX;
    at[t] = INT_MAX;
    d[t] = -1.0f;
    for (int i = blockIdx.x * kBlock + t; i < kN; i += kGrid * kBlock) {
        float diff = fabsf(a[i] - b[i]);
        bool bad = diff > 0.25f + 0.125f * fabsf(b[i]);
        combine(n[t], first[t], d[t], at[t], bad ? 1 : 0, bad ? i : INT_MAX, diff, i);
    }
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) combine(n[t], first[t], d[t], at[t], n[t + s], first[t + s], d[t + s], at[t + s]);
        __syncthreads();
    }
    if (t == 0) {
        counts[blockIdx.x] = n[0];
        firsts[blockIdx.x] = first[0];
        places[blockIdx.x] = at[0];
        diffs[blockIdx.x] = d[0];
    }
}

__global__ void finish(const int* counts, const int* firsts, const int* places, const float* diffs, int* report,
                       float* worst) {
    int n = counts[0], first = firsts[0], at = places[0];
    float d = diffs[0];
    for (int k = 1; k < kGrid; ++k) combine(n, first, d, at, counts[k], firsts[k], diffs[k], places[k]);
    report[0] = n;
    report[1] = n > 0 ? first : -1;
    report[2] = at;
    worst[0] = d;
}

int main() {
    float* h_a = new float[kN];
    float* h_b = new float[kN];
    int* h_report = new int[3];
    float* h_worst = new float[1];
    load("data/a.bin", h_a, kN * sizeof(float));
    load("data/b.bin", h_b, kN * sizeof(float));

    float* d_a = nullptr;
    float* d_b = nullptr;
    float* d_worst = nullptr;
    int* d_report = nullptr;
    int* d_counts;
    int* d_firsts;
    int* d_places;
    float* d_diffs;
    cudaMalloc(&d_a, kN * sizeof(float));
    cudaMalloc(&d_b, kN * sizeof(float));
    cudaMalloc(&d_report, 3 * sizeof(int));
    cudaMalloc(&d_worst, sizeof(float));
    cudaMalloc(&d_counts, kGrid * sizeof(int));
    cudaMalloc(&d_firsts, kGrid * sizeof(int));
    cudaMalloc(&d_places, kGrid * sizeof(int));
    cudaMalloc(&d_diffs, kGrid * sizeof(float));
    cudaMemcpy(d_a, h_a, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, kN * sizeof(float), cudaMemcpyHostToDevice);

    compare<<<kGrid, kBlock>>>(d_a, d_b, d_counts, d_firsts, d_places, d_diffs);
    finish<<<1, 1>>>(d_counts, d_firsts, d_places, d_diffs, d_report, d_worst);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_report, d_report, 3 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_worst, d_worst, sizeof(float), cudaMemcpyDeviceToHost);
    save("data/report.bin", h_report, 3 * sizeof(int));
    save("data/worst.bin", h_worst, sizeof(float));

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_report);
    cudaFree(d_worst);
    cudaFree(d_counts);
    cudaFree(d_firsts);
    cudaFree(d_places);
    cudaFree(d_diffs);
    delete[] h_a;
    delete[] h_b;
    delete[] h_report;
    delete[] h_worst;
    return 0;
}
