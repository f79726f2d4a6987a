#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

const int kN = 13000;

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
    void upload(const std::vector<T>& v) { cudaMemcpy(data, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const {
        cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> read_tensor(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return v;
}

__global__ void sophia(const float* theta, const float* grad, const float* m, const float* hess,
                       float* theta_out, float* m_out, int* clipped, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float mi = 0.96f * m[i] + 0.04f * grad[i];
    float r = mi / fmaxf(0.05f * hess[i], 1e-12f);
    if (fabsf(r) >= 1.0f) {
        atomicAdd(clipped, 1);
        r = copysignf(1.0f, r);
    }
    m_out[i] = mi;
    theta_out[i] = theta[i] * (1.0f - 0.0001f) - 0.002f * r;
}

int main() try {
    std::vector<float> host_theta = read_tensor<float>("data/theta.bin", kN);
    auto host_grad = read_tensor<float>("data/grad.bin", kN);
    auto host_m = read_tensor<float>("data/m.bin", kN);
    std::vector<float> host_hess = read_tensor<float>("data/hess.bin", kN);
    std::vector<float> host_theta_out(kN);
    std::vector<float> host_m_out(kN);
    std::vector<int> host_clipped(1);

    DeviceBuffer<float> d_theta(kN);
    DeviceBuffer<float> d_grad(kN);
    DeviceBuffer<float> d_m(kN);
    DeviceBuffer<float> d_hess(kN);
    DeviceBuffer<float> d_theta_out(kN);
    DeviceBuffer<float> d_m_out(kN);
    DeviceBuffer<int> d_clipped(1);
    d_theta.upload(host_theta);
    d_grad.upload(host_grad);
    d_m.upload(host_m);
    d_hess.upload(host_hess);
    cudaMemset(d_clipped.data, 0, sizeof(int));

    sophia<<<(kN + 255) / 256, 256>>>(d_theta.data, d_grad.data, d_m.data, d_hess.data, d_theta_out.data,
            d_m_out.data, d_clipped.data, kN);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        throw std::runtime_error("kernel failed");
    }

    d_theta_out.download(host_theta_out);
    d_m_out.download(host_m_out);
    d_clipped.download(host_clipped);
    std::ofstream theta_out_out("data/theta_out.bin", std::ios::binary);
    theta_out_out.write(reinterpret_cast<const char*>(host_theta_out.data()), host_theta_out.size() * sizeof(float));
    std::ofstream m_out_out("data/m_out.bin", std::ios::binary);
    m_out_out.write(reinterpret_cast<const char*>(host_m_out.data()), host_m_out.size() * sizeof(float));
    std::ofstream clipped_out("data/clipped.bin", std::ios::binary);
    clipped_out.write(reinterpret_cast<const char*>(host_clipped.data()), host_clipped.size() * sizeof(int));
    return 0;
} catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}
