#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int kN = 18000;

template <typename T>
struct GpuArray {
    T* data = nullptr;
    size_t n;
    explicit GpuArray(size_t n_) : n(n_) {
        if (cudaMalloc(&data, n_ * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "cudaMalloc failed\n");
            exit(1);
        }
    }
    ~GpuArray() { cudaFree(data); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void copy_in(const std::vector<T>& v) { cudaMemcpy(data, v.data(), n * sizeof(T), cudaMemcpyHostToDevice); }
    void copy_out(std::vector<T>& v) const {
        cudaMemcpy(v.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> readAll(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    return v;
}

// k ln k - k x is written as k (ln k - x): the large terms are subtracted before they are multiplied.
__device__ __forceinline__ float nll(float x, float k) {
    if (k <= 1.0f) return expf(x) - k * x;
    const float lk = logf(k);
    return expf(x) - k + k * (lk - x) + 0.5f * (lk + 1.8378771f);
}

__global__ void poisson_nll_vec(const float* __restrict__ log_rate, const float* __restrict__ count,
                                float* __restrict__ loss) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q < kN / 4) {
        const float4 x = ((const float4*)log_rate)[q];
        const float4 k = ((const float4*)count)[q];
        ((float4*)loss)[q] = make_float4(nll(x.x, k.x), nll(x.y, k.y), nll(x.z, k.z), nll(x.w, k.w));
    }
    const int rest = kN / 4 * 4 + q;
    if (rest < kN) loss[rest] = nll(log_rate[rest], count[rest]);
}

int main() {
    auto h_log_rate = readAll<float>("data/log_rate.bin", kN);
    std::vector<float> h_count = readAll<float>("data/count.bin", kN);
    std::vector<float> h_loss(kN);

    GpuArray<float> d_log_rate(kN);
    GpuArray<float> d_count(kN);
    GpuArray<float> d_loss(kN);
    d_log_rate.copy_in(h_log_rate);
    d_count.copy_in(h_count);

    poisson_nll_vec<<<(kN / 4 + 4 + 255) / 256, 256>>>(d_log_rate.data, d_count.data, d_loss.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    d_loss.copy_out(h_loss);
    std::ofstream loss_out("data/loss.bin", std::ios::binary);
    loss_out.write(reinterpret_cast<const char*>(h_loss.data()), h_loss.size() * sizeof(float));
    return 0;
}
