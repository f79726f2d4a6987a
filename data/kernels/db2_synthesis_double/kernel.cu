#include <cuda_runtime.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxRows = 65535, kMinHalf = 2, kMaxHalf = 131072, kThreads = 256;
constexpr unsigned kAll = 0xFFFFFFFFu;

struct Taps {
    double h[4], g[4];
};

__global__ void synthesise(const double* __restrict__ approximation, const double* __restrict__ detail,
                           double2* __restrict__ x, int half, Taps taps) {
    const int p = blockIdx.x * kThreads + threadIdx.x;
    const size_t row = static_cast<size_t>(blockIdx.y) * half;
    const int own = min(p, half - 1);
    const double a = approximation[row + own], d = detail[row + own];
    double previousA = __shfl_up_sync(kAll, a, 1), previousD = __shfl_up_sync(kAll, d, 1);
    if (threadIdx.x % 32 == 0) {
        const int before = own > 0 ? own - 1 : half - 1;
        previousA = approximation[row + before];
        previousD = detail[row + before];
    }
    if (p >= half) return;
    double2 pair;
    pair.x = taps.h[0] * a + taps.h[2] * previousA + taps.g[0] * d + taps.g[2] * previousD;
    pair.y = taps.h[1] * a + taps.h[3] * previousA + taps.g[1] * d + taps.g[3] * previousD;
    x[row + p] = pair;
}

static Taps daubechies() {
    const double s = std::sqrt(3.0), scale = 1.0 / (4.0 * std::sqrt(2.0));
    Taps taps = {{(1 + s) * scale, (3 + s) * scale, (3 - s) * scale, (1 - s) * scale}, {}};
    for (int k = 0; k < 4; ++k) taps.g[k] = (k % 2 == 0 ? 1.0 : -1.0) * taps.h[3 - k];
    return taps;
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

static double* upload(const std::vector<double>& values) {
    double* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(double)), "allocate");
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice), "upload");
    return device;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int rows = sizes[0], half = sizes[1];
        if (rows < 1 || rows > kMaxRows || half < kMinHalf || half > kMaxHalf) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t pairs = static_cast<size_t>(rows) * half;
        double* approximation = upload(readFile<double>("data/approximation.bin", pairs));
        double* detail = upload(readFile<double>("data/detail.bin", pairs));
        double2* dX = nullptr;
        check(cudaMalloc(&dX, pairs * sizeof(double2)), "allocate");
        const dim3 grid((half + kThreads - 1) / kThreads, rows);
        synthesise<<<grid, kThreads>>>(approximation, detail, dX, half, daubechies());
        check(cudaGetLastError(), "launch");
        std::vector<double2> x(pairs);
        check(cudaMemcpy(x.data(), dX, pairs * sizeof(double2), cudaMemcpyDeviceToHost), "download");
        check(cudaFree(approximation), "free");
        check(cudaFree(detail), "free");
        check(cudaFree(dX), "free");

        std::ofstream out("data/x.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(x.data()), pairs * sizeof(double2));
        out.close();
        if (!out) throw std::runtime_error("data/x.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
