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

constexpr int kRows = 40;
constexpr int kCols = 500;
constexpr int kBlock = 256;

__global__ void variation_and_jump(const float* x, float* variation, float* jump, int* at) {
    __shared__ float sums[kBlock], big[kBlock];
    __shared__ int pos[kBlock];
    const float* row = x + (size_t)blockIdx.x * kCols;
    int t = threadIdx.x;
    float sum = 0.0f, best = -1.0f;
    int where = kCols;
    for (int c = t; c < kCols - 1; c += kBlock) {
        float d = fabsf(row[c + 1] - row[c]);
        sum += d;
        if (d > best) {
            best = d;
            where = c;
        }
    }
    sums[t] = sum;
    big[t] = best;
    pos[t] = where;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) {
            sums[t] += sums[t + s];
            if (big[t + s] > big[t] || (big[t + s] == big[t] && pos[t + s] < pos[t])) {
                big[t] = big[t + s];
                pos[t] = pos[t + s];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        int c = pos[0];
        variation[blockIdx.x] = sums[0];
        jump[blockIdx.x] = row[c + 1] - row[c];
        at[blockIdx.x] = c;
    }
}

int main() {
    const size_t n = (size_t)kRows * kCols;
    std::vector<float> h_x(n);
    std::vector<float> h_variation(kRows);
    std::vector<float> h_jump(kRows);
    std::vector<int> h_at(kRows);
    if (!readFile("data/x.bin", h_x.data(), n * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    float *dev_x, *dev_variation, *dev_jump;
    int* dev_at;
    check(cudaMalloc(&dev_x, n * sizeof(float)), "allocate dev_x");
    check(cudaMalloc(&dev_variation, kRows * sizeof(float)), "allocate dev_variation");
    check(cudaMalloc(&dev_jump, kRows * sizeof(float)), "allocate dev_jump");
    check(cudaMalloc(&dev_at, kRows * sizeof(int)), "allocate dev_at");
    check(cudaMemcpy(dev_x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice), "copy dev_x");

    variation_and_jump<<<kRows, kBlock>>>(dev_x, dev_variation, dev_jump, dev_at);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(h_variation.data(), dev_variation, kRows * sizeof(float), cudaMemcpyDeviceToHost),
        "copy h_variation");
    check(cudaMemcpy(h_jump.data(), dev_jump, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy h_jump");
    check(cudaMemcpy(h_at.data(), dev_at, kRows * sizeof(int), cudaMemcpyDeviceToHost), "copy h_at");

    if (!writeFile("data/variation.bin", h_variation.data(), kRows * sizeof(float))) {
        fprintf(stderr, "cannot write data/variation.bin\n");
        return 1;
    }
    if (!writeFile("data/jump.bin", h_jump.data(), kRows * sizeof(float))) {
        fprintf(stderr, "cannot write data/jump.bin\n");
        return 1;
    }
    if (!writeFile("data/at.bin", h_at.data(), kRows * sizeof(int))) {
        fprintf(stderr, "cannot write data/at.bin\n");
        return 1;
    }
    cudaFree(dev_x);
    cudaFree(dev_variation);
    cudaFree(dev_jump);
    cudaFree(dev_at);
    return 0;
}
