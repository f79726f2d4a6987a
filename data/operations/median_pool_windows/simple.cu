#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int PLANES = 3;
constexpr int HEIGHT = 80;
constexpr int WIDTH = 100;

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    size_t count;
    explicit DeviceArray(size_t n) : count(n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void upload(const std::vector<T>& v) { cudaMemcpy(data, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const { cudaMemcpy(v.data(), data, count * sizeof(T),
        cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T)))
        throw std::runtime_error(std::string("cannot read ") + path);
    return v;
}

const int OH = HEIGHT / 2;
const int OW = WIDTH / 2;

__global__ void median_pool(const float* x, float* y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= OW || r >= OH) return;
    const float* plane = x + (size_t)blockIdx.z * HEIGHT * WIDTH;
    float v[9];
    int n = 0;
    for (int a = -1; a <= 1; a++) {
        int yy = min(max(2 * r + a, 0), HEIGHT - 1);
        for (int b = -1; b <= 1; b++) {
            int xx = min(max(2 * c + b, 0), WIDTH - 1);
            float value = plane[yy * WIDTH + xx];
            int k = n++;
            while (k > 0 && v[k - 1] > value) {
                v[k] = v[k - 1];
                k--;
            }
            v[k] = value;
        }
    }
    y[((size_t)blockIdx.z * OH + r) * OW + c] = v[4];
}

int main() {
    const int n_x = PLANES * HEIGHT * WIDTH;
    const int n_y = PLANES * (HEIGHT / 2) * (WIDTH / 2);
    std::vector<float> x = load<float>("data/x.bin", n_x);
    std::vector<float> y(n_y);

    DeviceArray<float> dev_x(n_x);
    DeviceArray<float> dev_y(n_y);
    dev_x.upload(x);

    dim3 block(16, 16);
    dim3 grid((OW + 16 - 1) / 16, (OH + 16 - 1) / 16, PLANES);
    median_pool<<<grid, block>>>(dev_x.data, dev_y.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

    dev_y.download(y);
    std::ofstream("data/y.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(y.data()), n_y * sizeof(float));
    return 0;
}
