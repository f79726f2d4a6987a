#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("short file: " + path);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int ROWS = 40;
constexpr int COLS = 400;
constexpr int WINDOW = 48;

__global__ void trailing_rms(const float* x, float* rms) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c >= COLS) return;
    const float* row = x + (size_t)r * COLS;
    int start = c - WINDOW + 1;
    if (start < 0) start = 0;
    float sum = 0.0f;
    for (int i = start; i <= c; ++i) sum += row[i] * row[i];
    rms[(size_t)r * COLS + c] = sqrtf(sum / (c - start + 1));
}

int main() {
    constexpr size_t total = (size_t)ROWS * COLS;
    const auto h_x = read_vector<float>("data/x.bin", total);

    float* x_dev = nullptr;
    float* rms_dev = nullptr;
    cudaMalloc(&x_dev, total * sizeof(float));
    cudaMalloc(&rms_dev, total * sizeof(float));
    cudaMemcpy(x_dev, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((COLS + 128 - 1) / 128, ROWS);
    trailing_rms<<<grid, block>>>(x_dev, rms_dev);
    if (auto err = cudaGetLastError(); err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    std::vector<float> h_rms(total);
    cudaMemcpy(h_rms.data(), rms_dev, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/rms.bin", h_rms);
    cudaFree(x_dev);
    cudaFree(rms_dev);
    return 0;
}
