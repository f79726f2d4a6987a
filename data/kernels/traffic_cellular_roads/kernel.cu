#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int THREADS = 128, MAX_CELLS = 1024;

__global__ void drive(const int8_t* __restrict__ cars, const uint8_t* __restrict__ random, int8_t* __restrict__ final,
                      int* __restrict__ flow, int fastest, int dawdle, int roads, int cells, int steps) {
    __shared__ int8_t ring[2][MAX_CELLS];
    __shared__ int total;
    const size_t start = static_cast<size_t>(blockIdx.x) * cells;
    for (int i = threadIdx.x; i < cells; i += THREADS) ring[0][i] = cars[start + i];
    if (threadIdx.x == 0) total = 0;
    int driven = 0;
    for (int step = 0; step < steps; ++step) {
        const int8_t* now = ring[step & 1];
        int8_t* next = ring[(step + 1) & 1];
        for (int i = threadIdx.x; i < cells; i += THREADS) next[i] = -1;
        __syncthreads();
        const uint8_t* numbers = random + (static_cast<size_t>(step) * roads + blockIdx.x) * cells;
        for (int i = threadIdx.x; i < cells; i += THREADS) {
            if (now[i] < 0) continue;
            const int wanted = min(now[i] + 1, fastest);
            int speed = 0, ahead = i;
            while (speed < wanted) {
                ahead = ahead + 1 == cells ? 0 : ahead + 1;
                if (now[ahead] >= 0) break;  // at the latest the car itself, one round later
                ++speed;
            }
            if (speed > 0 && numbers[i] < dawdle) --speed;
            next[(i + speed) % cells] = static_cast<int8_t>(speed);
            driven += speed;
        }
        __syncthreads();
    }
    atomicAdd(&total, driven);
    __syncthreads();
    for (int i = threadIdx.x; i < cells; i += THREADS) final[start + i] = ring[steps & 1][i];
    if (threadIdx.x == 0) flow[blockIdx.x] = total;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in || in.get() != EOF) throw std::runtime_error(path + " has the wrong length");
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void save(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!out.flush()) throw std::runtime_error(path + " cannot be written");
}

int main() try {
    const auto sizes = readFile<int>("data/sizes.bin", 3);
    const int roads = sizes[0], cells = sizes[1], steps = sizes[2];
    if (roads < 1 || roads > 65535 || cells < 2 || cells > MAX_CELLS || steps < 1 || steps > 500) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const size_t places = static_cast<size_t>(roads) * cells;
    const auto rules = readFile<uint8_t>("data/rules.bin", 2);
    if (rules[0] < 1 || rules[0] > 100) throw std::runtime_error("data/rules.bin: highest speed out of range");
    int8_t* cars = upload(readFile<int8_t>("data/cars.bin", places));
    uint8_t* random = upload(readFile<uint8_t>("data/random.bin", places * steps));
    int8_t* final;
    int* flow;
    check(cudaMalloc(&final, places));
    check(cudaMalloc(&flow, roads * sizeof(int)));
    drive<<<roads, THREADS>>>(cars, random, final, flow, rules[0], rules[1], roads, cells, steps);
    check(cudaGetLastError());
    save("data/final.bin", final, places);
    save("data/flow.bin", flow, roads);
    check(cudaFree(cars));
    check(cudaFree(random));
    check(cudaFree(final));
    check(cudaFree(flow));
    return 0;
} catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
}
