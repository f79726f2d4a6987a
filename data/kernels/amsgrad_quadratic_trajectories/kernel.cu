#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128;
constexpr int kMaxSteps = 2000;

__constant__ float rates[kMaxSteps];

__global__ void simulate(const float* __restrict__ curvature, const float* __restrict__ target,
                         const float* __restrict__ start, float* __restrict__ position,
                         float* __restrict__ largestMoment, int problems, int steps) {
    const int p = blockIdx.x * kThreads + threadIdx.x;
    if (p >= problems) return;
    const float c = curvature[p], t = target[p];
    float x = start[p], m = 0.0f, v = 0.0f, z = 0.0f;
    for (int k = 0; k < steps; ++k) {
        const float g = c * (x - t);
        m = 0.9f * m + 0.1f * g;
        v = 0.99f * v + 0.01f * g * g;
        z = fmaxf(z, v);
        x -= rates[k] * m / (sqrtf(z) + 1e-6f);
    }
    position[p] = x;
    largestMoment[p] = z;
}

class Failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw Failure(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw Failure(path + ": wrong size");
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw Failure(path + ": unreadable");
    return values;
}

static float* upload(const std::vector<float>& values) {
    float* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(float)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void save(const std::string& path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    out.close();
    if (!out) throw Failure(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
        const int problems = sizes[0], steps = sizes[1];
        if (problems < 1 || problems > 2000000 || steps < 1 || steps > kMaxSteps) throw Failure("sizes out of range");
        const auto curvature = readFile<float>("data/curvature.bin", problems);
        for (float c : curvature) {
            if (!(c > 0.0f)) throw Failure("data/curvature.bin: not positive");
        }
        std::vector<float> hostRates(steps);
        for (int k = 0; k < steps; ++k) hostRates[k] = static_cast<float>(0.05 / std::sqrt(k + 1.0));
        check(cudaMemcpyToSymbol(rates, hostRates.data(), steps * sizeof(float)));

        float* dCurvature = upload(curvature);
        float* target = upload(readFile<float>("data/target.bin", problems));
        float* start = upload(readFile<float>("data/start.bin", problems));
        float *position = nullptr, *largest = nullptr;
        check(cudaMalloc(&position, problems * sizeof(float)));
        check(cudaMalloc(&largest, problems * sizeof(float)));
        simulate<<<(problems + kThreads - 1) / kThreads, kThreads>>>(dCurvature, target, start, position, largest,
                                                                     problems, steps);
        check(cudaGetLastError());
        save("data/position.bin", position, problems);
        save("data/largest_moment.bin", largest, problems);
        for (float* p : {dCurvature, target, start, position, largest}) check(cudaFree(p));
    } catch (const Failure& failure) {
        std::cerr << failure.what() << std::endl;
        return 1;
    }
    return 0;
}
