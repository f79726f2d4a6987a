#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kPerLane = 4;  // 128 features
constexpr int kWarps = 4;
constexpr unsigned kMask = 0xFFFFFFFFu;

__global__ void __launch_bounds__(32 * kWarps)
    coordinateDescent(const double* __restrict__ gram, const double* __restrict__ moment,
                      const double* __restrict__ penalty, double* __restrict__ weights, double* __restrict__ objective,
                      int problems, int features, int sweeps) {
    const int lane = threadIdx.x, p = blockIdx.x * kWarps + threadIdx.y;
    if (p >= problems) return;  // whole warps
    const double* matrix = gram + static_cast<size_t>(p) * features * features;
    const double lambda = penalty[p];

    // Feature 32 m + lane: its weight, diagonal entry, and entry of moment - gram * weights.
    double w[kPerLane], diagonal[kPerLane], residual[kPerLane];
#pragma unroll
    for (int m = 0; m < kPerLane; ++m) {
        const int k = 32 * m + lane;
        w[m] = 0.0;
        diagonal[m] = k < features ? matrix[static_cast<size_t>(k) * features + k] : 1.0;
        residual[m] = k < features ? moment[static_cast<size_t>(p) * features + k] : 0.0;
    }
    for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma unroll
        for (int m = 0; m < kPerLane; ++m) {
            const int last = min(32, features - 32 * m);
            for (int owner = 0; owner < last; ++owner) {
                double step = 0.0;
                if (lane == owner) {
                    const double rest = residual[m] + diagonal[m] * w[m];
                    const double fresh = copysign(fmax(fabs(rest) - lambda, 0.0), rest) / diagonal[m];
                    step = fresh - w[m];
                    w[m] = fresh;
                }
                step = __shfl_sync(kMask, step, owner);
                if (step == 0.0) continue;
                const double* row = matrix + static_cast<size_t>(32 * m + owner) * features;
#pragma unroll
                for (int c = 0; c < kPerLane; ++c) {
                    const int k = 32 * c + lane;
                    if (k < features) residual[c] -= row[k] * step;
                }
            }
        }
    }

    // w G w / 2 - c w = -(c + r) w / 2 with r = c - G w.
    double value = 0.0;
#pragma unroll
    for (int m = 0; m < kPerLane; ++m) {
        const int k = 32 * m + lane;
        if (k >= features) continue;
        const size_t at = static_cast<size_t>(p) * features + k;
        weights[at] = w[m];
        value += lambda * fabs(w[m]) - 0.5 * (moment[at] + residual[m]) * w[m];
    }
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(kMask, value, d);
    if (lane == 0) objective[p] = value;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Release {
    void operator()(double* pointer) const { cudaFree(pointer); }
};
using DeviceArray = std::unique_ptr<double, Release>;

DeviceArray allocate(size_t count) {
    double* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(double)));
    return DeviceArray(pointer);
}

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + " cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + " has the wrong size");
    std::vector<T> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    return values;
}

DeviceArray upload(const std::vector<double>& values) {
    DeviceArray device = allocate(values.size());
    check(cudaMemcpy(device.get(), values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice));
    return device;
}

void download(const std::string& path, const DeviceArray& device, size_t count) {
    std::vector<double> values(count);
    check(cudaMemcpy(values.data(), device.get(), count * sizeof(double), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(double));
    out.close();
    if (!out) throw std::runtime_error(path + " cannot be written");
}

void solve() {
    const auto sizes = read<int32_t>("data/sizes.bin", 3);
    const int problems = sizes[0], features = sizes[1], sweeps = sizes[2];
    if (problems < 1 || problems > 65536 || features < 1 || features > 32 * kPerLane || sweeps < 1 || sweeps > 100) {
        throw std::runtime_error("data/sizes.bin is out of range");
    }
    const size_t entries = static_cast<size_t>(problems) * features;
    const auto matrices = read<double>("data/gram.bin", entries * features);
    for (size_t row = 0; row < entries; ++row) {
        if (!(matrices[row * features + row % features] > 0.0)) throw std::runtime_error("a diagonal is not positive");
    }
    const DeviceArray gram = upload(matrices);
    const DeviceArray moment = upload(read<double>("data/moment.bin", entries));
    const DeviceArray penalty = upload(read<double>("data/penalty.bin", problems));
    const DeviceArray weights = allocate(entries), objective = allocate(problems);
    coordinateDescent<<<(problems + kWarps - 1) / kWarps, dim3(32, kWarps)>>>(
        gram.get(), moment.get(), penalty.get(), weights.get(), objective.get(), problems, features, sweeps);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    download("data/weights.bin", weights, entries);
    download("data/objective.bin", objective, problems);
}

int main() {
    try {
        solve();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << "\n";
        return 1;
    }
}
