#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
struct GpuArray {
    T* ptr_ = nullptr;
    size_t count;
    explicit GpuArray(size_t n) : count(n) {
        if (cudaMalloc(&ptr_, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~GpuArray() { cudaFree(ptr_); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    T* get() const { return ptr_; }
    void copy_from(const std::vector<T>& v) {
        cudaMemcpy(ptr_, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    void copy_to(std::vector<T>& v) const {
        cudaMemcpy(v.data(), ptr_, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

const int GROUPS = 30;
const int POINTS = 500;
const int TERMS = 5;
const int THREADS = 128;

// One block per group and exponent.
__global__ void vandermonde(const float* x, const float* w, const int* exponent, float* moments) {
    __shared__ float sums[THREADS];
    int g = blockIdx.x, k = blockIdx.y, t = threadIdx.x;
    int power = exponent[k];
    float sum = 0.0f;
    for (int p = t; p < POINTS; p += THREADS) {
        float point = x[g * POINTS + p];
        float term = w[g * POINTS + p];
        for (int e = 0; e < power; ++e) term *= point;
        sum += term;
    }
    sums[t] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) moments[g * TERMS + k] = sums[0];
}

int main() {
    const size_t x_count = (size_t)GROUPS * POINTS;
    const size_t moments_count = (size_t)GROUPS * TERMS;
    std::vector<float> host_x = from_file<float>("data/x.bin", x_count);
    std::vector<float> host_w = from_file<float>("data/w.bin", x_count);
    std::vector<int> host_exponent = from_file<int>("data/exponent.bin", TERMS);
    std::vector<float> host_moments(moments_count);

    GpuArray<float> d_x(x_count), d_w(x_count), d_moments(moments_count);
    GpuArray<int> d_exponent(TERMS);
    d_x.copy_from(host_x);
    d_w.copy_from(host_w);
    d_exponent.copy_from(host_exponent);

    vandermonde<<<dim3(GROUPS, TERMS), THREADS>>>(d_x.get(), d_w.get(), d_exponent.get(), d_moments.get());
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("launch error");

    d_moments.copy_to(host_moments);
    std::ofstream("data/moments.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_moments.data()), moments_count * sizeof(float));
    return 0;
}
