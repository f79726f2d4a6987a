#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("failed to read " + path);
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
constexpr int COLS = 60;
constexpr int BLOCK = 128;

__device__ int sign_of(float a, float b) {
    return (a > b) - (a < b);
}

__global__ void kendall(const float* x, const float* y, int* balance, float* tau) {
    __shared__ int part[BLOCK];
    const float* xr = x + (size_t)blockIdx.x * COLS;
    const float* yr = y + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    int sum = 0;
    for (int i = t; i < COLS; i += BLOCK) {
        for (int j = i + 1; j < COLS; ++j) {
            sum += sign_of(xr[i], xr[j]) * sign_of(yr[i], yr[j]);
        }
    }
    part[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) {
        balance[blockIdx.x] = part[0];
        tau[blockIdx.x] = part[0] / (0.5f * COLS * (COLS - 1));
    }
}

int main() {
    constexpr size_t numel = (size_t)ROWS * COLS;
    const auto x = read_vector<float>("data/x.bin", numel);
    const auto y = read_vector<float>("data/y.bin", numel);

    float *d_x, *d_y, *d_tau;
    int* d_balance = nullptr;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_y, numel * sizeof(float));
    cudaMalloc(&d_balance, ROWS * sizeof(int));
    cudaMalloc(&d_tau, ROWS * sizeof(float));
    cudaMemcpy(d_x, x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    kendall<<<ROWS, BLOCK>>>(d_x, d_y, d_balance, d_tau);
    if (auto err = cudaGetLastError(); err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    std::vector<int> balance(ROWS);
    std::vector<float> tau(ROWS);
    cudaMemcpy(balance.data(), d_balance, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(tau.data(), d_tau, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/balance.bin", balance);
    write_vector("data/tau.bin", tau);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_balance);
    cudaFree(d_tau);
    return 0;
}
