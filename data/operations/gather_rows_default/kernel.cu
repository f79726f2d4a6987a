#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int ENTRIES = 100;
constexpr int DIM = 50;
constexpr int LOOKUPS = 300;
constexpr int ROWS_PER_BLOCK = 8;

inline void check(cudaError_t status, const char* msg) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(status));
        exit(1);
    }
}

template <typename T>
bool load(const char* path, std::vector<T>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(T), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

template <typename T>
static bool save(const char* path, const std::vector<T>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(T), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

// One warp copies one row; the unsigned comparison catches negative ids as well.
__global__ void gather_rows_warp(const float* __restrict__ table, const int* __restrict__ ids,
                                 const float* __restrict__ fallback, float* __restrict__ out) {
    int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
    if (row >= LOOKUPS) return;
    int id = ids[row];
    const float* src = (unsigned)id < (unsigned)ENTRIES ? table + (size_t)id * DIM : fallback;
    float* dst = out + (size_t)row * DIM;
    for (int c = threadIdx.x; c < DIM; c += 32) dst[c] = src[c];
}

int main() {
    const size_t num_table = size_t(ENTRIES) * DIM;
    const size_t num_out = size_t(LOOKUPS) * DIM;
    std::vector<float> table(num_table);
    std::vector<int> ids(LOOKUPS);
    std::vector<float> fallback(DIM);
    std::vector<float> out(num_out);
    if (!load("data/table.bin", table) ||
        !load("data/ids.bin", ids) ||
        !load("data/fallback.bin", fallback)) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    float *dev_table, *dev_fallback, *dev_out;
    int *dev_ids;
    check(cudaMalloc(&dev_table, num_table * sizeof(float)), "malloc dev_table");
    check(cudaMalloc(&dev_ids, LOOKUPS * sizeof(int)), "malloc dev_ids");
    check(cudaMalloc(&dev_fallback, DIM * sizeof(float)), "malloc dev_fallback");
    check(cudaMalloc(&dev_out, num_out * sizeof(float)), "malloc dev_out");
    check(cudaMemcpy(dev_table, table.data(), num_table * sizeof(float), cudaMemcpyHostToDevice),
            "copy dev_table");
    check(cudaMemcpy(dev_ids, ids.data(), LOOKUPS * sizeof(int), cudaMemcpyHostToDevice), "copy dev_ids");
    check(cudaMemcpy(dev_fallback, fallback.data(), DIM * sizeof(float), cudaMemcpyHostToDevice),
            "copy dev_fallback");

    dim3 block(32, ROWS_PER_BLOCK);
    gather_rows_warp<<<(LOOKUPS + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, block>>>(dev_table, dev_ids,
            dev_fallback, dev_out);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(out.data(), dev_out, num_out * sizeof(float), cudaMemcpyDeviceToHost), "copy out");

    if (!save("data/out.bin", out)) return 1;
    cudaFree(dev_table);
    cudaFree(dev_ids);
    cudaFree(dev_fallback);
    cudaFree(dev_out);
    return 0;
}
