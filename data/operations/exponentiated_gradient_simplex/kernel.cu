#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

template <typename T>
struct CudaArray {
    T* ptr = nullptr;
    size_t count;
    explicit CudaArray(size_t n_) : count(n_) {
        if (cudaMalloc(&ptr, n_ * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "cudaMalloc failed\n");
            exit(1);
        }
    }
    ~CudaArray() { cudaFree(ptr); }
    CudaArray(const CudaArray&) = delete;
    CudaArray& operator=(const CudaArray&) = delete;
    void copy_in(const std::vector<T>& v) { cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void copy_out(std::vector<T>& v) const {
        cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> read_tensor(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    return v;
}

constexpr int kRows = 150;
constexpr int kDim = 100;

__global__ void exponentiated_step_warp(const float* __restrict__ weight, const float* __restrict__ grad,
                                        const float* __restrict__ rate, float* __restrict__ weight_out) {
    __shared__ float scaled[4][kDim];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = blockIdx.x * 4 + warp;
    if (row >= kRows) return;
    const size_t base = (size_t)row * kDim;
    const float r = rate[row];
    float low = INFINITY;
    for (int k = lane; k < kDim; k += 32) low = fminf(low, r * grad[base + k]);
    for (int d = 16; d > 0; d /= 2) low = fminf(low, __shfl_xor_sync(0xffffffffu, low, d));
    float sum = 0.0f;
    // The products are kept in shared memory; each lane reads back only what it wrote.
    for (int k = lane; k < kDim; k += 32) {
        const float v = weight[base + k] * expf(low - r * grad[base + k]);
        scaled[warp][k] = v;
        sum += v;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    const float inv = 1.0f / sum;
    for (int k = lane; k < kDim; k += 32) weight_out[base + k] = scaled[warp][k] * inv;
}

int main() {
    std::vector<float> h_weight = read_tensor<float>("data/weight.bin", kRows * kDim);
    auto h_grad = read_tensor<float>("data/grad.bin", kRows * kDim);
    auto h_rate = read_tensor<float>("data/rate.bin", kRows);
    std::vector<float> h_weight_out(kRows * kDim);

    CudaArray<float> dev_weight(kRows * kDim);
    CudaArray<float> dev_grad(kRows * kDim);
    CudaArray<float> dev_rate(kRows);
    CudaArray<float> dev_weight_out(kRows * kDim);
    dev_weight.copy_in(h_weight);
    dev_grad.copy_in(h_grad);
    dev_rate.copy_in(h_rate);

    exponentiated_step_warp<<<(kRows + 3) / 4, 128>>>(dev_weight.ptr, dev_grad.ptr, dev_rate.ptr, dev_weight_out.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    dev_weight_out.copy_out(h_weight_out);
    std::ofstream weight_out_out("data/weight_out.bin", std::ios::binary);
    weight_out_out.write(reinterpret_cast<const char*>(h_weight_out.data()), h_weight_out.size() * sizeof(float));
    return 0;
}
