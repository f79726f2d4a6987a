#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMinObservations = 4, kMaxObservations = 65536, kMaxFrequencies = 65535;
constexpr int kThreads = 128, kWarps = kThreads / 32;

// The sum over the block, for every thread of it.
__device__ double blockSum(double value, double* shared) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const double own = cg::reduce(warp, value, cg::plus<double>());
    __syncthreads();  // the last sum has been read
    if (warp.thread_rank() == 0) shared[threadIdx.x / 32] = own;
    __syncthreads();
    double total = 0.0;
    for (int w = 0; w < kWarps; ++w) total += shared[w];
    return total;
}

__global__ void lombScargle(const double* __restrict__ time, const double* __restrict__ y,
                            const double* __restrict__ omega, double* __restrict__ power, int n) {
    __shared__ double shared[kWarps];
    const double w = omega[blockIdx.x];
    double sines = 0.0, cosines = 0.0;
    for (int i = threadIdx.x; i < n; i += kThreads) {
        double s, c;
        sincos(2.0 * w * time[i], &s, &c);
        sines += s;
        cosines += c;
    }
    sines = blockSum(sines, shared);
    cosines = blockSum(cosines, shared);
    const double offset = 0.5 * atan2(sines, cosines);

    double yc = 0.0, cc = 0.0, ys = 0.0, ss = 0.0;
    for (int i = threadIdx.x; i < n; i += kThreads) {
        double s, c;
        sincos(w * time[i] - offset, &s, &c);
        yc += y[i] * c;
        cc += c * c;
        ys += y[i] * s;
        ss += s * s;
    }
    yc = blockSum(yc, shared);
    cc = blockSum(cc, shared);
    ys = blockSum(ys, shared);
    ss = blockSum(ss, shared);
    if (threadIdx.x == 0) power[blockIdx.x] = 0.5 * (yc * yc / cc + ys * ys / ss);
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

double* upload(const std::vector<double>& values) {
    double* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(double)), "allocate");
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice), "upload");
    return device;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int n = sizes[0], frequencies = sizes[1];
        if (n < kMinObservations || n > kMaxObservations || frequencies < 1 || frequencies > kMaxFrequencies) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        double* time = upload(readFile<double>("data/time.bin", n));
        double* y = upload(readFile<double>("data/y.bin", n));
        double* omega = upload(readFile<double>("data/omega.bin", frequencies));
        double* dPower = nullptr;
        check(cudaMalloc(&dPower, frequencies * sizeof(double)), "allocate");
        lombScargle<<<frequencies, kThreads>>>(time, y, omega, dPower, n);
        check(cudaGetLastError(), "launch");
        std::vector<double> power(frequencies);
        check(cudaMemcpy(power.data(), dPower, frequencies * sizeof(double), cudaMemcpyDeviceToHost), "download");
        for (double* buffer : {time, y, omega, dPower}) check(cudaFree(buffer), "free");

        std::ofstream out("data/power.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(power.data()), frequencies * sizeof(double));
        out.close();
        if (!out) throw std::runtime_error("data/power.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
