#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

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

constexpr int kRows = 200;
constexpr int kWidth = 50;
constexpr int kWarps = 4;

// Uses sum |a - b| = sum over i of (2 * rank - width + 1) * a[i] * 2 with ranks found by counting.
__global__ void gini_by_rank(const float* __restrict__ income, float* __restrict__ gini) {
    __shared__ float rows[kWarps][kWidth];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int r = blockIdx.x * kWarps + warp;
    if (r >= kRows) return;
    float* row = rows[warp];
    for (int i = lane; i < kWidth; i += 32) row[i] = income[(size_t)r * kWidth + i];
    __syncwarp();
    float weighted = 0.0f, total = 0.0f;
    for (int i = lane; i < kWidth; i += 32) {
        float v = row[i];
        int below = 0, above = 0;
        for (int j = 0; j < kWidth; ++j) {
            below += row[j] < v;
            above += row[j] > v;
        }
        weighted += (below - above) * v;
        total += v;
    }
    for (int s = 16; s > 0; s /= 2) {
        weighted += __shfl_down_sync(0xffffffffu, weighted, s);
        total += __shfl_down_sync(0xffffffffu, total, s);
    }
    if (lane == 0) gini[r] = total > 0.0f ? weighted / (kWidth * total) : 0.0f;
}

int main() {
    std::vector<float> h_income(kRows * kWidth);
    std::vector<float> h_gini(kRows);
    if (!readFile("data/income.bin", h_income.data(), kRows * kWidth * sizeof(float))) {
        fprintf(stderr, "cannot read data/income.bin\n");
        return 1;
    }

    float *income_d, *gini_d;
    check(cudaMalloc(&income_d, kRows * kWidth * sizeof(float)), "allocate");
    check(cudaMalloc(&gini_d, kRows * sizeof(float)), "allocate");
    check(cudaMemcpy(income_d, h_income.data(), kRows * kWidth * sizeof(float), cudaMemcpyHostToDevice), "copy");

    gini_by_rank<<<(kRows + kWarps - 1) / kWarps, 32 * kWarps>>>(income_d, gini_d);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(h_gini.data(), gini_d, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy");

    if (!writeFile("data/gini.bin", h_gini.data(), kRows * sizeof(float))) {
        fprintf(stderr, "cannot write data/gini.bin\n");
        return 1;
    }
    cudaFree(income_d);
    cudaFree(gini_d);
    return 0;
}
