#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceBuffer {
    T* data = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n_) : count(n_) {
        if (cudaMalloc(&data, n_ * sizeof(T)) != cudaSuccess) {
            throw std::runtime_error("cudaMalloc failed");
        }
    }
    ~DeviceBuffer() { cudaFree(data); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void from_host(const std::vector<T>& v) { cudaMemcpy(data, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void to_host(std::vector<T>& v) const {
        cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> read_vector(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return v;
}

const int kSamples = 500;
const int kOutputs = 40;
const int kSize = kSamples * kOutputs;

__global__ void r_squared(const float* pred, const float* truth, float* r2) {
    __shared__ float a[256], b[256];
    int j = blockIdx.x, t = threadIdx.x;
    a[t] = 0.0f;
    for (int i = t; i < kSamples; i += 256) a[t] += truth[i * kOutputs + j];
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) a[t] += a[t + s];
        __syncthreads();
    }
    float mean = a[0] / kSamples;
    __syncthreads();
    a[t] = b[t] = 0.0f;
    for (int i = t; i < kSamples; i += 256) {
        float y = truth[i * kOutputs + j];
        float e = y - pred[i * kOutputs + j];
        a[t] += e * e;
        b[t] += (y - mean) * (y - mean);
    }
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            a[t] += a[t + s];
            b[t] += b[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        if (b[0] > 0.0f) r2[j] = 1.0f - a[0] / b[0];
        else r2[j] = a[0] == 0.0f ? 1.0f : 0.0f;
    }
}

int main() try {
    std::vector<float> h_pred = read_vector<float>("data/pred.bin", kSize);
    std::vector<float> h_truth = read_vector<float>("data/truth.bin", kSize);
    std::vector<float> h_r2(kOutputs);

    DeviceBuffer<float> d_pred(kSize);
    DeviceBuffer<float> d_truth(kSize);
    DeviceBuffer<float> d_r2(kOutputs);
    d_pred.from_host(h_pred);
    d_truth.from_host(h_truth);

    r_squared<<<kOutputs, 256>>>(d_pred.data, d_truth.data, d_r2.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        throw std::runtime_error("kernel failed");
    }

    d_r2.to_host(h_r2);
    std::ofstream r2_out("data/r2.bin", std::ios::binary);
    r2_out.write(reinterpret_cast<const char*>(h_r2.data()), h_r2.size() * sizeof(float));
    return 0;
} catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}
