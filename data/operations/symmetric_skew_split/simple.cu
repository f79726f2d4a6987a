#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kBatch = 3;
constexpr int kN = 65;

inline void check(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool loadFile(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool saveFile(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

__global__ void split_parts(const float* a, float* sym, float* skew) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= kN || j >= kN) return;
    int base = blockIdx.z * kN * kN;
    float x = a[base + i * kN + j];
    float y = a[base + j * kN + i];
    sym[base + i * kN + j] = 0.5f * (x + y);
    skew[base + i * kN + j] = 0.5f * (x - y);
}

int main() {
    const size_t n_a = (size_t)kBatch * kN * kN;
    std::vector<float> h_a(n_a);
    std::vector<float> h_sym(n_a);
    std::vector<float> h_skew(n_a);
    if (!loadFile("data/a.bin", h_a)) {
        fprintf(stderr, "input missing\n");
        return 1;
    }

    float *d_a = nullptr, *d_sym = nullptr, *d_skew = nullptr;
    check(cudaMalloc(&d_a, n_a * sizeof(float)), "cudaMalloc a");
    check(cudaMalloc(&d_sym, n_a * sizeof(float)), "cudaMalloc sym");
    check(cudaMalloc(&d_skew, n_a * sizeof(float)), "cudaMalloc skew");
    check(cudaMemcpy(d_a, h_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice), "copy a");

    dim3 block(32, 8);
    dim3 grid((kN + 31) / 32, (kN + 7) / 8, kBatch);
    split_parts<<<grid, block>>>(d_a, d_sym, d_skew);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(h_sym.data(), d_sym, n_a * sizeof(float), cudaMemcpyDeviceToHost), "copy sym");
    check(cudaMemcpy(h_skew.data(), d_skew, n_a * sizeof(float), cudaMemcpyDeviceToHost), "copy skew");

    if (!saveFile("data/sym.bin", h_sym) || !saveFile("data/skew.bin", h_skew)) return 1;
    cudaFree(d_a);
    cudaFree(d_sym);
    cudaFree(d_skew);
    return 0;
}
