#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 700;
constexpr int kNonzeros = 5000;
constexpr int kSlots = 12;
constexpr int kTile = 32;

template <typename T>
struct GpuBuffer {
    T* data = nullptr;
    explicit GpuBuffer(size_t n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~GpuBuffer() { cudaFree(data); }
    GpuBuffer(const GpuBuffer&) = delete;
    GpuBuffer& operator=(const GpuBuffer&) = delete;
};

template <typename T>
void load_array(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T))) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
}

// The slots of 32 rows are staged in shared memory, so that they can be written along the rows.
__global__ void to_ellpack_staged(const int* __restrict__ row_start, const int* __restrict__ col_index,
                                  const float* __restrict__ value, int* __restrict__ ell_col,
                                  float* __restrict__ ell_value, int* __restrict__ dropped) {
    __shared__ int cols[kTile][kSlots + 1];
    __shared__ float vals[kTile][kSlots + 1];
    const int r0 = blockIdx.x * kTile;
    const int lane = threadIdx.x;
    for (int q = threadIdx.y; q < kTile && r0 + q < kRows; q += blockDim.y) {
        const int begin = row_start[r0 + q];
        const int n = row_start[r0 + q + 1] - begin;
        if (lane < kSlots) {
            cols[q][lane] = lane < n ? col_index[begin + lane] : -1;
            vals[q][lane] = lane < n ? value[begin + lane] : 0.0f;
        }
        if (lane == 0) dropped[r0 + q] = max(n - kSlots, 0);
    }
    __syncthreads();
    if (r0 + lane >= kRows) return;
    for (int k = threadIdx.y; k < kSlots; k += blockDim.y) {
        ell_col[(size_t)k * kRows + r0 + lane] = cols[lane][k];
        ell_value[(size_t)k * kRows + r0 + lane] = vals[lane][k];
    }
}

int main() {
    size_t row_start_total = kRows + 1;
    size_t ell_col_total = size_t(12) * kRows;
    std::vector<int> host_row_start(row_start_total);
    std::vector<int> host_col_index(kNonzeros);
    std::vector<float> host_value(kNonzeros);
    std::vector<int> host_ell_col(ell_col_total);
    std::vector<float> host_ell_value(ell_col_total);
    std::vector<int> host_dropped(kRows);
    load_array("data/row_start.bin", host_row_start);
    load_array("data/col_index.bin", host_col_index);
    load_array("data/value.bin", host_value);

    GpuBuffer<int> d_row_start(row_start_total), d_col_index(kNonzeros), d_ell_col(ell_col_total),
            d_dropped(kRows);
    GpuBuffer<float> d_value(kNonzeros), d_ell_value(ell_col_total);
    cudaMemcpy(d_row_start.data, host_row_start.data(), row_start_total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_col_index.data, host_col_index.data(), kNonzeros * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_value.data, host_value.data(), kNonzeros * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(kTile, 8);
    to_ellpack_staged<<<(kRows + kTile - 1) / kTile, block>>>(d_row_start.data, d_col_index.data,
            d_value.data, d_ell_col.data, d_ell_value.data, d_dropped.data);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) { std::cerr << cudaGetErrorString(err) << std::endl; return 1; }

    cudaMemcpy(host_ell_col.data(), d_ell_col.data, ell_col_total * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/ell_col.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_ell_col.data()),
        ell_col_total * sizeof(int));
    cudaMemcpy(host_ell_value.data(), d_ell_value.data, ell_col_total * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/ell_value.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_ell_value.data()),
        ell_col_total * sizeof(float));
    cudaMemcpy(host_dropped.data(), d_dropped.data, kRows * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/dropped.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_dropped.data()),
        kRows * sizeof(int));
    return 0;
}
