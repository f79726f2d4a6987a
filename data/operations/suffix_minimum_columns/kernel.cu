#include <cuda_runtime.h>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int ROWS = 120;
constexpr int COLS = 130;
constexpr int TX = 32;
constexpr int TY = 16;
constexpr int SPAN = (ROWS + TY - 1) / TY;

// Each of the 16 thread rows owns a band of rows: first its minimum, then the scan starting from the bands below.
__global__ void suffix_minimum_bands(const float* __restrict__ x, float* __restrict__ low,
    float* __restrict__ slack) {
    __shared__ float band[TY][TX];
    int c = blockIdx.x * TX + threadIdx.x;
    int begin = threadIdx.y * SPAN;
    int end = min(begin + SPAN, ROWS);
    float m = INFINITY;
    if (c < COLS) {
        for (int r = begin; r < end; ++r) m = fminf(m, x[(size_t)r * COLS + c]);
    }
    band[threadIdx.y][threadIdx.x] = m;
    __syncthreads();
    if (c >= COLS) return;
    m = INFINITY;
    for (int k = threadIdx.y + 1; k < TY; ++k) m = fminf(m, band[k][threadIdx.x]);
    for (int r = end - 1; r >= begin; --r) {
        size_t i = (size_t)r * COLS + c;
        float v = x[i];
        m = fminf(m, v);
        low[i] = m;
        slack[i] = v - m;
    }
}

int main() {
    constexpr size_t numel = (size_t)ROWS * COLS;
    const auto h_x = load_file<float>("data/x.bin", numel);

    float* d_x = nullptr;
    float* d_low = nullptr;
    float* d_slack = nullptr;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_low, numel * sizeof(float));
    cudaMalloc(&d_slack, numel * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(TX, TY);
    suffix_minimum_bands<<<(COLS + TX - 1) / TX, block>>>(d_x, d_low, d_slack);
    const auto status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    std::vector<float> h_low(numel);
    std::vector<float> h_slack(numel);
    cudaMemcpy(h_low.data(), d_low, numel * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_slack.data(), d_slack, numel * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/low.bin", h_low);
    store_file("data/slack.bin", h_slack);
    cudaFree(d_x);
    cudaFree(d_low);
    cudaFree(d_slack);
    return 0;
}
