#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr double kBound = 5.12;

__global__ void moveParticles(double* position, double* velocity, const double* __restrict__ bestPosition,
                              double* bestValue, const double* __restrict__ draws, const double* __restrict__ leader,
                              int particles, int dims) {
    const int p = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (p >= particles) return;
    const double own = 1.5 * draws[2 * p], shared = 1.5 * draws[2 * p + 1];
    double value = 0.0;
    for (int d = lane; d < dims; d += 32) {
        const size_t at = static_cast<size_t>(p) * dims + d;
        const double x = position[at];
        const double v = 0.7 * velocity[at] + own * (bestPosition[at] - x) + shared * (leader[d] - x);
        const double moved = fmin(fmax(x + v, -kBound), kBound);
        velocity[at] = v;
        position[at] = moved;
        value += moved * moved - 10.0 * cospi(2.0 * moved);
    }
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (lane == 0) bestValue[p] = fmin(bestValue[p], 10.0 * dims + value);
}

__global__ void findWinner(const double* __restrict__ bestValue, int* winner, int particles) {
    __shared__ double values[kThreads];
    __shared__ int numbers[kThreads];
    const int t = threadIdx.x;
    values[t] = bestValue[0];
    numbers[t] = 0;
    for (int p = t; p < particles; p += kThreads) {
        if (bestValue[p] < values[t]) {
            values[t] = bestValue[p];
            numbers[t] = p;
        }
    }
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) {
            const double other = values[t + half];
            if (other < values[t] || (other == values[t] && numbers[t + half] < numbers[t])) {
                values[t] = other;
                numbers[t] = numbers[t + half];
            }
        }
        __syncthreads();
    }
    if (t == 0) *winner = numbers[0];
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

static double* load(const std::string& path, size_t count) {
    const auto host = readFile<double>(path, count);
    double* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(double)));
    check(cudaMemcpy(device, host.data(), count * sizeof(double), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void save(const std::string& path, T* device, size_t count) {
    std::vector<T> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
        const int particles = sizes[0], dims = sizes[1];
        if (particles < 1 || particles > 200000 || dims < 1 || dims > 256) throw std::runtime_error("bad sizes");
        const size_t cells = static_cast<size_t>(particles) * dims;
        double *position = load("data/position.bin", cells), *velocity = load("data/velocity.bin", cells);
        double* bestPosition = load("data/best_position.bin", cells);
        double *bestValue = load("data/best_value.bin", particles), *draws = load("data/draws.bin", 2ull * particles);
        double* leader = load("data/leader.bin", dims);
        int* winner = nullptr;
        check(cudaMalloc(&winner, sizeof(int)));

        const int warps = kThreads / 32;
        moveParticles<<<(particles + warps - 1) / warps, kThreads>>>(position, velocity, bestPosition, bestValue,
                                                                     draws, leader, particles, dims);
        check(cudaGetLastError());
        findWinner<<<1, kThreads>>>(bestValue, winner, particles);
        check(cudaGetLastError());
        save("data/new_position.bin", position, cells);
        save("data/new_velocity.bin", velocity, cells);
        save("data/new_best_value.bin", bestValue, particles);
        save("data/winner.bin", winner, 1);
        for (double* p : {bestPosition, draws, leader}) check(cudaFree(p));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
