#include <cuda_runtime.h>
#include <cfloat>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("short file: " + path);
    }
    return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int ROWS = 64;
constexpr int COLS = 300;
constexpr int BLOCK = 256;

__global__ void log_mean_exp(const float* x, const float* tau, float* lme) {
    __shared__ float buf[BLOCK];
    const float* row = x + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    float top = -FLT_MAX;
    for (int c = t; c < COLS; c += BLOCK) top = fmaxf(top, row[c]);
    buf[t] = top;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
        __syncthreads();
    }
    top = buf[0];
    __syncthreads();

    float temperature = tau[blockIdx.x];
    float sum = 0.0f;
    for (int c = t; c < COLS; c += BLOCK) sum += expf((row[c] - top) / temperature);
    buf[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    if (t == 0) lme[blockIdx.x] = top + temperature * logf(buf[0] / COLS);
}

int main() {
    constexpr size_t total = (size_t)ROWS * COLS;
    const auto h_x = load_file<float>("data/x.bin", total);
    const auto h_tau = load_file<float>("data/tau.bin", ROWS);

    float *dX, *dTau, *dLme;
    cudaMalloc(&dX, total * sizeof(float));
    cudaMalloc(&dTau, ROWS * sizeof(float));
    cudaMalloc(&dLme, ROWS * sizeof(float));
    cudaMemcpy(dX, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dTau, h_tau.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);

    log_mean_exp<<<ROWS, BLOCK>>>(dX, dTau, dLme);
    const auto status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    std::vector<float> h_lme(ROWS);
    cudaMemcpy(h_lme.data(), dLme, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/lme.bin", h_lme);
    cudaFree(dX);
    cudaFree(dTau);
    cudaFree(dLme);
    return 0;
}
