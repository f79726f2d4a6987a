#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    size_t n;
    explicit DeviceArray(size_t n_) : n(n_) {
        if (cudaMalloc(&data, n_ * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "cudaMalloc failed\n");
            exit(1);
        }
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void upload(const std::vector<T>& v) { cudaMemcpy(data, v.data(), n * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const {
        cudaMemcpy(v.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> load(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    return v;
}

constexpr int kRows = 60;
constexpr int kCols = 200;

__global__ void signum(const float* weight, const float* grad, const float* momentum, const unsigned char* decay_row,
                       float* weight_out, float* momentum_out, int* agreement) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kRows * kCols) return;
    int row = i / kCols;
    float m = 0.875f * momentum[i] + 0.125f * grad[i];
    float sign = m > 0.0f ? 1.0f : (m < 0.0f ? -1.0f : 0.0f);
    float d = decay_row[row] ? 0.999f : 1.0f;
    momentum_out[i] = m;
    weight_out[i] = d * weight[i] - 0.01f * sign;
    if (sign * grad[i] > 0.0f) atomicAdd(&agreement[row], 1);
}

int main() {
    std::vector<float> h_weight = load<float>("data/weight.bin", kRows * kCols);
    std::vector<float> h_grad = load<float>("data/grad.bin", kRows * kCols);
    auto h_momentum = load<float>("data/momentum.bin", kRows * kCols);
    std::vector<unsigned char> h_decay_row = load<unsigned char>("data/decay_row.bin", kRows);
    std::vector<float> h_weight_out(kRows * kCols), h_momentum_out(kRows * kCols);
    std::vector<int> h_agreement(kRows);

    DeviceArray<float> d_weight(kRows * kCols);
    DeviceArray<float> d_grad(kRows * kCols);
    DeviceArray<float> d_momentum(kRows * kCols);
    DeviceArray<unsigned char> d_decay_row(kRows);
    DeviceArray<float> d_weight_out(kRows * kCols);
    DeviceArray<float> d_momentum_out(kRows * kCols);
    DeviceArray<int> d_agreement(kRows);
    d_weight.upload(h_weight);
    d_grad.upload(h_grad);
    d_momentum.upload(h_momentum);
    d_decay_row.upload(h_decay_row);
    cudaMemset(d_agreement.data, 0, kRows * sizeof(int));

    signum<<<(kRows * kCols + 255) / 256, 256>>>(d_weight.data, d_grad.data, d_momentum.data, d_decay_row.data,
                                             d_weight_out.data, d_momentum_out.data, d_agreement.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    d_weight_out.download(h_weight_out);
    d_momentum_out.download(h_momentum_out);
    d_agreement.download(h_agreement);
    std::ofstream weight_out_out("data/weight_out.bin", std::ios::binary);
    weight_out_out.write(reinterpret_cast<const char*>(h_weight_out.data()), h_weight_out.size() * sizeof(float));
    std::ofstream momentum_out_out("data/momentum_out.bin", std::ios::binary);
    momentum_out_out.write(reinterpret_cast<const char*>(h_momentum_out.data()),
            h_momentum_out.size() * sizeof(float));
    std::ofstream agreement_out("data/agreement.bin", std::ios::binary);
    agreement_out.write(reinterpret_cast<const char*>(h_agreement.data()), h_agreement.size() * sizeof(int));
    return 0;
}
