#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 500;
constexpr int ENTRIES = 6000;
constexpr int WARPS_PER_BLOCK = 8;

inline void ensure(cudaError_t status, const char* step) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
        exit(1);
    }
}

template <typename T>
bool read_all(const char* path, std::vector<T>& v) {
    FILE* file = fopen(path, "rb");
    if (!file) return false;
    size_t got = fread(v.data(), sizeof(T), v.size(), file);
    fclose(file);
    return got == v.size();
}

template <typename T>
bool write_all(const char* path, const std::vector<T>& v) {
    FILE* file = fopen(path, "wb");
    if (!file) return false;
    size_t put = fwrite(v.data(), sizeof(T), v.size(), file);
    fclose(file);
    return put == v.size();
}

// A warp a row, so that neighbouring lanes read neighbouring entries.
__global__ void scale_rows(const int* __restrict__ row_start, const float* __restrict__ value,
                           float* __restrict__ scaled, float* __restrict__ scale) {
    int r = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= ROWS) return;
    int begin = row_start[r], end = row_start[r + 1];
    float top = 0.0f;
    for (int k = begin + lane; k < end; k += 32) top = fmaxf(top, fabsf(value[k]));
    for (int mask = 16; mask > 0; mask >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, mask));
    if (top == 0.0f) top = 1.0f;
    if (lane == 0) scale[r] = top;
    for (int k = begin + lane; k < end; k += 32) scaled[k] = value[k] / top;
}

int main() {
    std::vector<int> h_row_start(ROWS + 1);
    std::vector<float> h_value(ENTRIES);
    std::vector<float> h_scaled(ENTRIES);
    std::vector<float> h_scale(ROWS);
    if (!read_all("data/row_start.bin", h_row_start) || !read_all("data/value.bin", h_value)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    int *d_row_start;
    float *d_value, *d_scaled, *d_scale;
    ensure(cudaMalloc(&d_row_start, (ROWS + 1) * sizeof(int)), "cudaMalloc row_start");
    ensure(cudaMemcpy(d_row_start, h_row_start.data(), (ROWS + 1) * sizeof(int), cudaMemcpyHostToDevice),
            "copy row_start");
    ensure(cudaMalloc(&d_value, ENTRIES * sizeof(float)), "cudaMalloc value");
    ensure(cudaMemcpy(d_value, h_value.data(), ENTRIES * sizeof(float), cudaMemcpyHostToDevice), "copy value");
    ensure(cudaMalloc(&d_scaled, ENTRIES * sizeof(float)), "cudaMalloc scaled");
    ensure(cudaMalloc(&d_scale, ROWS * sizeof(float)), "cudaMalloc scale");

    scale_rows<<<(ROWS + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK, 32 * WARPS_PER_BLOCK>>>(d_row_start,
            d_value, d_scaled, d_scale);
    ensure(cudaGetLastError(), "kernel launch");
    ensure(cudaDeviceSynchronize(), "kernel");
    ensure(cudaMemcpy(h_scaled.data(), d_scaled, ENTRIES * sizeof(float), cudaMemcpyDeviceToHost),
            "copy scaled back");
    ensure(cudaMemcpy(h_scale.data(), d_scale, ROWS * sizeof(float), cudaMemcpyDeviceToHost),
            "copy scale back");

    cudaFree(d_row_start);
    cudaFree(d_value);
    cudaFree(d_scaled);
    cudaFree(d_scale);

    if (!write_all("data/scaled.bin", h_scaled)) return 1;
    if (!write_all("data/scale.bin", h_scale)) {
        fprintf(stderr, "cannot write data/scale.bin\n");
        return 1;
    }
}
