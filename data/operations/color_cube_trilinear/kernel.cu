#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct Buffer {
    T* p = nullptr;
    explicit Buffer(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~Buffer() { cudaFree(p); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

constexpr int kPixels = 6000;
constexpr int kSide = 9;

template <typename T>
void read_values(const char* path, std::vector<T>& out) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(out.data()), out.size() * sizeof(T));
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
}

__device__ float mix(float a, float b, float t) {
    return a + t * (b - a);
}

// A thread makes one component of one pixel, so that neighbouring threads write neighbouring values.
__global__ void cube_component(const float* __restrict__ rgb, const float* __restrict__ cube,
        float* __restrict__ mapped) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3 * kPixels) return;
    const int c = i % 3;
    const float* p = rgb + (i - c);
    const float r = __saturatef(p[0]) * (kSide - 1);
    const float g = __saturatef(p[1]) * (kSide - 1);
    const float b = __saturatef(p[2]) * (kSide - 1);
    const int ir = min((int)r, kSide - 2), ig = min((int)g, kSide - 2), ib = min((int)b, kSide - 2);
    const int step_g = 3 * kSide, step_r = 3 * kSide * kSide;
    const float* q = cube + ir * step_r + ig * step_g + ib * 3 + c;
    const float fb = b - ib, fg = g - ig;
    const float near = mix(mix(q[0], q[3], fb), mix(q[step_g], q[step_g + 3], fb), fg);
    q += step_r;
    const float away = mix(mix(q[0], q[3], fb), mix(q[step_g], q[step_g + 3], fb), fg);
    mapped[i] = mix(near, away, r - ir);
}

int main() {
    constexpr int rgbSize = kPixels * 3;
    constexpr int cubeSize = kSide * kSide * kSide * 3;
    std::vector<float> host_rgb(rgbSize);
    std::vector<float> host_cube(cubeSize);
    std::vector<float> host_mapped(rgbSize);
    read_values("data/rgb.bin", host_rgb);
    read_values("data/cube.bin", host_cube);

    Buffer<float> d_rgb(rgbSize);
    Buffer<float> d_cube(cubeSize);
    Buffer<float> d_mapped(rgbSize);
    cudaMemcpy(d_rgb.p, host_rgb.data(), rgbSize * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cube.p, host_cube.data(), cubeSize * sizeof(float), cudaMemcpyHostToDevice);

    const int values = 3 * kPixels;
    cube_component<<<(values + 255) / 256, 256>>>(d_rgb.p, d_cube.p, d_mapped.p);
    if (cudaGetLastError() != cudaSuccess) {
        throw std::runtime_error("launch failed");
    }

    cudaMemcpy(host_mapped.data(), d_mapped.p, rgbSize * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream mapped_file("data/mapped.bin", std::ios::binary);
    mapped_file.write(reinterpret_cast<const char*>(host_mapped.data()), rgbSize * sizeof(float));
    return 0;
}
