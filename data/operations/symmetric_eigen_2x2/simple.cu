#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct Buffer {
    float* p = nullptr;
    size_t count;
    explicit Buffer(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~Buffer() { cudaFree(p); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void copy_from(const std::vector<float>& v) {
        cudaMemcpy(p, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void copy_to(std::vector<float>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> load(const std::string& path, size_t count) {
    std::vector<float> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(float));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

const int COUNT = 5000;

__global__ void eigen_2x2(const float* s, float* values, float* axis) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    float p = s[3 * i], q = s[3 * i + 1], r = s[3 * i + 2];
    float mean = 0.5f * (p + r);
    float diff = 0.5f * (p - r);
    float radius = sqrtf(diff * diff + q * q);
    values[2 * i] = mean + radius;
    values[2 * i + 1] = mean - radius;
    float angle = 0.5f * atan2f(q, diff);
    float cx = cosf(angle), cy = sinf(angle);
    if (cy < 0.0f) {
        cx = -cx;
        cy = -cy;
    }
    axis[2 * i] = cx;
    axis[2 * i + 1] = cy;
}

int main() {
    const size_t s_size = (size_t)COUNT * 3;
    const size_t values_size = (size_t)COUNT * 2;
    std::vector<float> s = load("data/s.bin", s_size);
    std::vector<float> values(values_size);
    std::vector<float> axis(values_size);

    Buffer d_s(s_size), d_values(values_size), d_axis(values_size);
    d_s.copy_from(s);

    const int threads = 256;
    eigen_2x2<<<(COUNT + threads - 1) / threads, threads>>>(d_s.p, d_values.p, d_axis.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    d_values.copy_to(values);
    d_axis.copy_to(axis);
    std::ofstream("data/values.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), values_size * sizeof(float));
    std::ofstream("data/axis.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(axis.data()), values_size * sizeof(float));
    return 0;
}
