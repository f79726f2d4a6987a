#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarps = 4;
constexpr unsigned kAll = 0xffffffffu;

__global__ void earthMover(const float* __restrict__ predicted, const float* __restrict__ target,
                           const float* __restrict__ position, float* __restrict__ distance,
                           float* __restrict__ squared, int rows, int bins) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* p = predicted + static_cast<size_t>(row) * bins;
    const float* t = target + static_cast<size_t>(row) * bins;

    float carry = 0.0f, linear = 0.0f, square = 0.0f;
    for (int base = 0; base < bins; base += 32) {
        const int k = base + lane;
        float flow = k < bins ? p[k] - t[k] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            const float left = __shfl_up_sync(kAll, flow, step);
            if (lane >= step) flow += left;
        }
        flow += carry;
        carry = __shfl_sync(kAll, flow, 31);
        if (k < bins - 1) {
            const float gap = position[k + 1] - position[k];
            linear = fmaf(fabsf(flow), gap, linear);
            square = fmaf(flow * flow, gap, square);
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        linear += __shfl_down_sync(kAll, linear, step);
        square += __shfl_down_sync(kAll, square, step);
    }
    if (lane == 0) {
        distance[row] = linear;
        squared[row] = square;
    }
}

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw Failure(cudaGetErrorString(status));
}

static std::vector<char> readBytes(const std::string& path, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw Failure(path + ": expected " + std::to_string(bytes));
    std::vector<char> data(bytes);
    in.seekg(0);
    if (!in.read(data.data(), bytes)) throw Failure(path + ": cannot be read");
    return data;
}

static float* loadFloats(const std::string& path, size_t count) {
    const auto host = readBytes(path, count * sizeof(float));
    float* device = nullptr;
    check(cudaMalloc(&device, host.size()));
    check(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice));
    return device;
}

static void saveFloats(const std::string& path, float* device, size_t count) {
    std::vector<float> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float));
    out.close();
    if (!out) throw Failure(path + ": cannot be written");
}

int main() {
    try {
        const auto raw = readBytes("data/sizes.bin", 2 * sizeof(int32_t));
        const int32_t* sizes = reinterpret_cast<const int32_t*>(raw.data());
        const int rows = sizes[0], bins = sizes[1];
        if (rows < 1 || rows > 1000000 || bins < 1 || bins > 4096) throw Failure("data/sizes.bin: out of range");
        const size_t cells = static_cast<size_t>(rows) * bins;
        float* predicted = loadFloats("data/predicted.bin", cells);
        float* target = loadFloats("data/target.bin", cells);
        float* position = loadFloats("data/position.bin", bins);
        float *distance = nullptr, *squared = nullptr;
        check(cudaMalloc(&distance, rows * sizeof(float)));
        check(cudaMalloc(&squared, rows * sizeof(float)));
        earthMover<<<(rows + kWarps - 1) / kWarps, 32 * kWarps>>>(predicted, target, position, distance, squared, rows,
                                                                  bins);
        check(cudaGetLastError());
        saveFloats("data/distance.bin", distance, rows);
        saveFloats("data/squared.bin", squared, rows);
        for (float* p : {predicted, target, position, distance, squared}) check(cudaFree(p));
    } catch (const Failure& failure) {
        std::cerr << failure.what() << std::endl;
        return 1;
    }
    return 0;
}
