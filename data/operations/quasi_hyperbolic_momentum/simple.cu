#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

const int ROWS = 70;
const int COLS = 150;

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    size_t count;
    explicit DeviceArray(size_t n_) : count(n_) {
        if (cudaMalloc(&data, n_ * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "cudaMalloc failed\n");
            exit(1);
        }
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void copy_in(const std::vector<T>& v) { cudaMemcpy(data, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void copy_out(std::vector<T>& v) const {
        cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
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

__global__ void qhm_rows(const float* weight, const float* grad, const float* buffer, const float* nu,
                         float* weight_out, float* buffer_out) {
    size_t base = (size_t)blockIdx.x * COLS;
    int mine = 0;
    for (int j = threadIdx.x; j < COLS; j += blockDim.x) {
        if (grad[base + j] != 0.0f) mine = 1;
    }
    int live = __syncthreads_or(mine);
    for (int j = threadIdx.x; j < COLS; j += blockDim.x) {
        float w = weight[base + j], b = buffer[base + j];
        if (live) {
            float g = grad[base + j];
            b = 0.95f * b + 0.05f * g;
            w -= 0.2f * ((1.0f - nu[j]) * g + nu[j] * b);
        }
        weight_out[base + j] = w;
        buffer_out[base + j] = b;
    }
}

int main() {
    std::vector<float> host_weight = load<float>("data/weight.bin", ROWS * COLS);
    std::vector<float> host_grad = load<float>("data/grad.bin", ROWS * COLS);
    std::vector<float> host_buffer = load<float>("data/buffer.bin", ROWS * COLS);
    auto host_nu = load<float>("data/nu.bin", COLS);
    std::vector<float> host_weight_out(ROWS * COLS), host_buffer_out(ROWS * COLS);

    DeviceArray<float> d_weight(ROWS * COLS);
    DeviceArray<float> d_grad(ROWS * COLS);
    DeviceArray<float> d_buffer(ROWS * COLS);
    DeviceArray<float> d_nu(COLS);
    DeviceArray<float> d_weight_out(ROWS * COLS);
    DeviceArray<float> d_buffer_out(ROWS * COLS);
    d_weight.copy_in(host_weight);
    d_grad.copy_in(host_grad);
    d_buffer.copy_in(host_buffer);
    d_nu.copy_in(host_nu);

    qhm_rows<<<ROWS, 256>>>(d_weight.data, d_grad.data, d_buffer.data, d_nu.data, d_weight_out.data,
            d_buffer_out.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    d_weight_out.copy_out(host_weight_out);
    d_buffer_out.copy_out(host_buffer_out);
    std::ofstream weight_out_out("data/weight_out.bin", std::ios::binary);
    weight_out_out.write(reinterpret_cast<const char*>(host_weight_out.data()),
            host_weight_out.size() * sizeof(float));
    std::ofstream buffer_out_out("data/buffer_out.bin", std::ios::binary);
    buffer_out_out.write(reinterpret_cast<const char*>(host_buffer_out.data()),
            host_buffer_out.size() * sizeof(float));
    return 0;
}
