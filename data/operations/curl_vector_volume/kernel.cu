#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kDepth = 12;
constexpr int kHeight = 20;
constexpr int kWidth = 33;

template <typename T>
struct Buffer {
    T* data = nullptr;
    explicit Buffer(size_t count) {
        if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~Buffer() { cudaFree(data); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

// A thread owns one (x, y) column and marches through z with Fx and Fy of three planes in registers.
__global__ void curl_march(const float* __restrict__ f, float* __restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    const int plane = kHeight * kWidth, n = kDepth * plane;
    const bool rim = x == 0 || y == 0 || x == kWidth - 1 || y == kHeight - 1;
    const float* fx = f + y * kWidth + x;
    const float* fy = fx + n;
    const float* fz = fy + n;
    float* o = out + y * kWidth + x;
    float xm = 0.0f, ym = 0.0f, xc = fx[0], yc = fy[0];
    for (int z = 0; z < kDepth; ++z) {
        float a = 0.0f, b = 0.0f, c = 0.0f, xp = 0.0f, yp = 0.0f;
        int k = z * plane;
        if (z + 1 < kDepth) { xp = fx[k + plane]; yp = fy[k + plane]; }
        if (!rim && z > 0 && z + 1 < kDepth) {
            a = 0.5f * ((fz[k + kWidth] - fz[k - kWidth]) - (yp - ym));
            b = 0.5f * ((xp - xm) - (fz[k + 1] - fz[k - 1]));
            c = 0.5f * ((fy[k + 1] - fy[k - 1]) - (fx[k + kWidth] - fx[k - kWidth]));
        }
        o[k] = a; o[k + n] = b; o[k + 2 * n] = c;
        xm = xc; ym = yc; xc = xp; yc = yp;
    }
}

int main() {
    const size_t elements = (size_t)3 * kDepth * kHeight * kWidth;
    std::vector<float> host_field(elements);
    std::vector<float> host_curl(elements);
    std::ifstream file("data/field.bin", std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(host_field.data()), elements * sizeof(float))) {
        throw std::runtime_error("cannot read data/field.bin");
    }

    Buffer<float> d_field(elements);
    Buffer<float> d_curl(elements);
    cudaMemcpy(d_field.data, host_field.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 4);
    dim3 grid((kWidth + 31) / 32, (kHeight + 3) / 4);
    curl_march<<<grid, block>>>(d_field.data, d_curl.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    cudaMemcpy(host_curl.data(), d_curl.data, elements * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream curl_file("data/curl.bin", std::ios::binary);
    curl_file.write(reinterpret_cast<const char*>(host_curl.data()), elements * sizeof(float));
    return 0;
}
