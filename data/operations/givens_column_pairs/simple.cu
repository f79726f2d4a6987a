#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
struct Buffer {
    T* p = nullptr;
    size_t count;
    explicit Buffer(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~Buffer() { cudaFree(p); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void upload(const std::vector<T>& v) {
        cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    void download(std::vector<T>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> read_file(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

constexpr int kRows = 64;
constexpr int kPairs = 40;
constexpr int kCols = 2 * kPairs;

__global__ void rotate_pairs(const float* a, const int* columns, const float* theta, float* rotated) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (k >= kPairs) return;
    int p = columns[2 * k];
    int q = columns[2 * k + 1];
    float c = cosf(theta[k]);
    float s = sinf(theta[k]);
    float ap = a[r * kCols + p];
    float aq = a[r * kCols + q];
    rotated[r * kCols + p] = c * ap - s * aq;
    rotated[r * kCols + q] = s * ap + c * aq;
}

int main() {
    const size_t a_size = (size_t)kRows * kPairs * 2;
    const size_t columns_size = (size_t)kPairs * 2;
    std::vector<float> a = read_file<float>("data/a.bin", a_size);
    std::vector<int> columns = read_file<int>("data/columns.bin", columns_size);
    std::vector<float> theta = read_file<float>("data/theta.bin", kPairs);
    std::vector<float> rotated(a_size);

    Buffer<float> d_a(a_size), d_theta(kPairs), d_rotated(a_size);
    Buffer<int> d_columns(columns_size);
    d_a.upload(a);
    d_columns.upload(columns);
    d_theta.upload(theta);

    dim3 grid((kPairs + 63) / 64, kRows);
    rotate_pairs<<<grid, 64>>>(d_a.p, d_columns.p, d_theta.p, d_rotated.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

    d_rotated.download(rotated);
    std::ofstream("data/rotated.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(rotated.data()), a_size * sizeof(float));
    return 0;
}
