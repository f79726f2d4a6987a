#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 1000;
constexpr int kKl = 3;
constexpr int kKu = 2;

inline void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool readVector(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool writeVector(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

__global__ void band_times_vector(const float* band, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    int first = i - kKl > 0 ? i - kKl : 0;
    int last = i + kKu < kN - 1 ? i + kKu : kN - 1;
    float sum = 0.0f;
    for (int j = first; j <= last; ++j) {
        sum += band[(kKu + i - j) * kN + j] * x[j];
    }
    y[i] = sum;
}

int main() {
    std::vector<float> h_band((kKl + kKu + 1) * kN);
    std::vector<float> h_x(kN);
    std::vector<float> h_y(kN);
    if (!readVector("data/band.bin", h_band) || !readVector("data/x.bin", h_x)) {
        fprintf(stderr, "input missing\n");
        return 1;
    }

    float *d_band = nullptr, *d_x = nullptr, *d_y = nullptr;
    checkCuda(cudaMalloc(&d_band, sizeof(float) * (kKl + kKu + 1) * kN), "cudaMalloc band");
    checkCuda(cudaMalloc(&d_x, kN * sizeof(float)), "cudaMalloc x");
    checkCuda(cudaMalloc(&d_y, kN * sizeof(float)), "cudaMalloc y");
    checkCuda(cudaMemcpy(d_band, h_band.data(), sizeof(float) * (kKl + kKu + 1) * kN, cudaMemcpyHostToDevice),
            "copy band");
    checkCuda(cudaMemcpy(d_x, h_x.data(), kN * sizeof(float), cudaMemcpyHostToDevice), "copy x");

    const int block = 256;
    const int grid = (kN + block - 1) / block;
    band_times_vector<<<grid, block>>>(d_band, d_x, d_y);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(h_y.data(), d_y, kN * sizeof(float), cudaMemcpyDeviceToHost), "copy y");

    if (!writeVector("data/y.bin", h_y)) return 1;
    cudaFree(d_band);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
