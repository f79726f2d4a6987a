#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int HEIGHT = 150;
constexpr int WIDTH = 200;

template <typename T>
struct DeviceBuffer {
    T* p = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceBuffer() { cudaFree(p); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    T* get() const { return p; }
    void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const { cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T)))
        throw std::runtime_error(std::string("cannot read ") + path);
    return v;
}

__global__ void divisive(const float* image, float* response) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= HEIGHT || c >= WIDTH) return;
    float energy = 0.0f;
    int used = 0;
    for (int y = max(r - 3, 0); y <= min(r + 3, HEIGHT - 1); y++) {
        for (int x = max(c - 3, 0); x <= min(c + 3, WIDTH - 1); x++) {
            float v = image[y * WIDTH + x];
            energy += v * v;
            used++;
        }
    }
    response[r * WIDTH + c] = image[r * WIDTH + c] / (0.2f + sqrtf(energy / used));
}

int main() {
    const int count = HEIGHT * WIDTH;
    std::vector<float> host_image = load<float>("data/image.bin", count);
    std::vector<float> host_response(count);

    DeviceBuffer<float> d_image(count);
    DeviceBuffer<float> d_response(count);
    d_image.upload(host_image);

    dim3 block(16, 16);
    dim3 grid((WIDTH + 16 - 1) / 16, (HEIGHT + 16 - 1) / 16);
    divisive<<<grid, block>>>(d_image.get(), d_response.get());
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("launch error");

    d_response.download(host_response);
    std::ofstream("data/response.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_response.data()), count * sizeof(float));
    return 0;
}
