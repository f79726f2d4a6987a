#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kRows = 120;
constexpr int kCols = 300;

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool readFile(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void simpson(const float* abundance, float* diversity, float* effective) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kCols) return;
    float t = 0.0f, q = 0.0f;
    for (int r = 0; r < kRows; ++r) {
        float a = abundance[(size_t)r * kCols + c];
        t += a;
        q += a * a;
    }
    if (t > 0.0f) {
        diversity[c] = 1.0f - q / (t * t);
        effective[c] = t * t / q;
    } else {
        diversity[c] = 0.0f;
        effective[c] = 0.0f;
    }
}

int main() {
    const size_t numel = (size_t)kRows * kCols;
    std::vector<float> host_abundance(numel);
    std::vector<float> host_diversity(kCols);
    std::vector<float> host_effective(kCols);
    if (!readFile("data/abundance.bin", host_abundance.data(), numel * sizeof(float))) {
        fprintf(stderr, "cannot read data/abundance.bin\n");
        return 1;
    }

    float *abundance_d, *diversity_d, *effective_d;
    check(cudaMalloc(&abundance_d, numel * sizeof(float)), "allocate abundance_d");
    check(cudaMalloc(&diversity_d, kCols * sizeof(float)), "allocate diversity_d");
    check(cudaMalloc(&effective_d, kCols * sizeof(float)), "allocate effective_d");
    check(cudaMemcpy(abundance_d, host_abundance.data(), numel * sizeof(float), cudaMemcpyHostToDevice),
        "copy abundance_d");

    int block = 64;
    simpson<<<(kCols + block - 1) / block, block>>>(abundance_d, diversity_d, effective_d);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(host_diversity.data(), diversity_d, kCols * sizeof(float), cudaMemcpyDeviceToHost),
        "copy host_diversity");
    check(cudaMemcpy(host_effective.data(), effective_d, kCols * sizeof(float), cudaMemcpyDeviceToHost),
        "copy host_effective");

    if (!writeFile("data/diversity.bin", host_diversity.data(), kCols * sizeof(float))) {
        fprintf(stderr, "cannot write data/diversity.bin\n");
        return 1;
    }
    if (!writeFile("data/effective.bin", host_effective.data(), kCols * sizeof(float))) {
        fprintf(stderr, "cannot write data/effective.bin\n");
        return 1;
    }
    cudaFree(abundance_d);
    cudaFree(diversity_d);
    cudaFree(effective_d);
    return 0;
}
