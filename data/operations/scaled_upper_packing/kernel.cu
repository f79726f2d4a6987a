#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

const int BATCH = 50;
const int N = 24;
const int PACKED = N * (N + 1) / 2;

struct DeviceBuffer {
    float* data = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n) : count(n) {
        if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceBuffer() { cudaFree(data); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void copy_from(const std::vector<float>& v) {
        cudaMemcpy(data, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void copy_to(std::vector<float>& v) const {
        cudaMemcpy(v.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> load(const std::string& path, size_t count) {
    std::vector<float> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(float));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

// One thread per output place; the column is recovered from the position by a square root and corrected.
__global__ void pack_by_position(const float* __restrict__ a, float* __restrict__ packed) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= PACKED) return;
    int j = (int)((sqrtf(8.0f * k + 1.0f) - 1.0f) * 0.5f);
    while (j * (j + 1) / 2 > k) --j;
    while ((j + 1) * (j + 2) / 2 <= k) ++j;
    const int i = k - j * (j + 1) / 2;
    for (int s = blockIdx.y; s < BATCH; s += gridDim.y) {
        const float* m = a + (size_t)s * N * N;
        const float upper = m[i * N + j];
        packed[(size_t)s * PACKED + k] = i == j ? upper : (upper + m[j * N + i]) * 0.70710678f;
    }
}

int main() {
    const size_t a_count = (size_t)BATCH * N * N;
    const size_t packed_count = (size_t)BATCH * (N * (N + 1) / 2);
    std::vector<float> a = load("data/a.bin", a_count);
    std::vector<float> packed(packed_count);

    DeviceBuffer d_a(a_count), d_packed(packed_count);
    d_a.copy_from(a);

    dim3 grid((PACKED + 127) / 128, BATCH < 256 ? BATCH : 256);
    pack_by_position<<<grid, 128>>>(d_a.data, d_packed.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

    d_packed.copy_to(packed);
    std::ofstream("data/packed.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(packed.data()), packed_count * sizeof(float));
    return 0;
}
