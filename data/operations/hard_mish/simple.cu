#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

static const int ROWS = 64;
static const int COLS = 300;

struct DevMem {
    float* ptr = nullptr;
    explicit DevMem(size_t n) {
        if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DevMem() { cudaFree(ptr); }
    DevMem(const DevMem&) = delete;
    DevMem& operator=(const DevMem&) = delete;
};

void load(const std::string& path, std::vector<float>& v) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(float)))
        throw std::runtime_error("cannot read " + path);
}

__global__ void hard_mish(const float* x, const float* scale, float* y) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (col < COLS) {
        size_t k = (size_t)row * COLS + col;
        float t = scale[row] * x[k];
        y[k] = 0.5f * t * fminf(2.0f, fmaxf(0.0f, t + 2.0f));
    }
}

int main() {
    const size_t numel = ROWS * COLS;
    std::vector<float> h_x(numel);
    std::vector<float> h_scale(ROWS);
    std::vector<float> h_y(numel);
    load("data/x.bin", h_x);
    load("data/scale.bin", h_scale);

    DevMem d_x(numel);
    DevMem d_scale(ROWS);
    DevMem d_y(numel);
    cudaMemcpy(d_x.ptr, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_scale.ptr, h_scale.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    dim3 grid((COLS + threads - 1) / threads, ROWS);
    hard_mish<<<grid, threads>>>(d_x.ptr, d_scale.ptr, d_y.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    cudaMemcpy(h_y.data(), d_y.ptr, numel * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_y.data()), numel * sizeof(float));
    return 0;
}
