#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxOrder = 32, kMaxFrames = 1 << 20, kThreads = 128;

template <int Order>
__global__ void levinson(const double* __restrict__ r, double* __restrict__ a, double* __restrict__ error,
                         int frames) {
    const int f = blockIdx.x * kThreads + threadIdx.x;
    if (f >= frames) return;
    double lag[Order + 1], weight[Order + 1];
#pragma unroll
    for (int k = 0; k <= Order; ++k) lag[k] = r[static_cast<size_t>(k) * frames + f];
    double rest = lag[0];
#pragma unroll
    for (int i = 1; i <= Order; ++i) {
        double sum = lag[i];
#pragma unroll
        for (int j = 1; j < i; ++j) sum -= weight[j] * lag[i - j];
        const double k = sum / rest;
#pragma unroll
        for (int j = 1; 2 * j <= i; ++j) {  // both ends at once; j = i - j in the middle
            const double low = weight[j], high = weight[i - j];
            weight[j] = low - k * high;
            weight[i - j] = high - k * low;
        }
        weight[i] = k;
        rest *= 1.0 - k * k;
    }
#pragma unroll
    for (int j = 1; j <= Order; ++j) a[static_cast<size_t>(j - 1) * frames + f] = weight[j];
    error[f] = rest;
}

template <int Order>
void launch(int order, const double* r, double* a, double* error, int frames) {
    if (order == Order) {
        levinson<Order><<<(frames + kThreads - 1) / kThreads, kThreads>>>(r, a, error, frames);
    } else if constexpr (Order < kMaxOrder) {
        launch<Order + 1>(order, r, a, error, frames);
    }
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

void save(const std::string& path, const double* device, size_t count) {
    std::vector<double> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost), "download");
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(double));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int order = sizes[0], frames = sizes[1];
        if (order < 1 || order > kMaxOrder || frames < 1 || frames > kMaxFrames) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto r = readFile<double>("data/r.bin", static_cast<size_t>(order + 1) * frames);
        const size_t weights = static_cast<size_t>(order) * frames;
        double *dR, *dA, *dError;
        check(cudaMalloc(&dR, r.size() * sizeof(double)), "allocate");
        check(cudaMalloc(&dA, weights * sizeof(double)), "allocate");
        check(cudaMalloc(&dError, frames * sizeof(double)), "allocate");
        check(cudaMemcpy(dR, r.data(), r.size() * sizeof(double), cudaMemcpyHostToDevice), "upload");
        launch<1>(order, dR, dA, dError, frames);
        check(cudaGetLastError(), "launch");
        save("data/a.bin", dA, weights);
        save("data/error.bin", dError, frames);
        check(cudaFree(dR), "free");
        check(cudaFree(dA), "free");
        check(cudaFree(dError), "free");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
