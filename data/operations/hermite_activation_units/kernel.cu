#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
    if (!stream) throw std::runtime_error("cannot read " + path);
    return data;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
    if (!out) throw std::runtime_error("cannot write " + path);
}
//@given

constexpr int ROWS = 40;
constexpr int UNITS = 250;

// The series becomes an ordinary polynomial once per column (He2 = t^2 - 1, He3 = t^3 - 3t, He4 = t^4 - 6t^2 + 3).
__global__ void hermite_columns(const float* __restrict__ x, const float* __restrict__ coef, float* __restrict__ y) {
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= UNITS) return;
    const float a0 = coef[u], a1 = coef[UNITS + u], a2 = coef[2 * UNITS + u];
    const float a3 = coef[3 * UNITS + u], a4 = coef[4 * UNITS + u];
    const float b0 = a0 - a2 + 3.0f * a4;
    const float b1 = a1 - 3.0f * a3;
    const float b2 = a2 - 6.0f * a4;
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
        const float t = x[r * UNITS + u];
        y[r * UNITS + u] = fmaf(fmaf(fmaf(fmaf(a4, t, a3), t, b2), t, b1), t, b0);
    }
}

int main(void) {
    constexpr size_t count = ROWS * UNITS;
    constexpr int coef_size = 5 * UNITS;
    const auto h_x = load<float>("data/x.bin", count);
    const auto h_coef = load<float>("data/coef.bin", coef_size);
    std::vector<float> h_y(count);

    float *d_x = nullptr, *d_coef = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, count * sizeof(float));
    cudaMalloc(&d_coef, coef_size * sizeof(float));
    cudaMalloc(&d_y, count * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coef, h_coef.data(), coef_size * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((UNITS + 64 - 1) / 64, 96);
    hermite_columns<<<grid, 64>>>(d_x, d_coef, d_y);
    if (auto error = cudaGetLastError(); error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/y.bin", h_y);

    cudaFree(d_y);
    cudaFree(d_coef);
    cudaFree(d_x);
}
