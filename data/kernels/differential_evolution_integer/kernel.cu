#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarps = 8;
constexpr int kMaxGenes = 256;

struct Settings {
    int factor, rate, bound;
};

__device__ long long gap(int own, int next, int center) {
    const long long off = own - center;
    return off * off + 64LL * abs(own - next);
}

__device__ long long warpTotal(long long x) {
    for (int d = 16; d > 0; d >>= 1) x += __shfl_xor_sync(0xFFFFFFFFu, x, d);
    return x;
}

__global__ void evolve(const int16_t* __restrict__ vectors, const int16_t* __restrict__ center,
                       const int* __restrict__ picks, const int* __restrict__ forced,
                       const uint8_t* __restrict__ dice, int16_t* __restrict__ survivors,
                       long long* __restrict__ costs, unsigned long long* best, int population, int genes,
                       Settings settings) {
    __shared__ int16_t trials[kWarps][kMaxGenes], parents[kWarps][kMaxGenes];
    const int lane = threadIdx.x, individual = blockIdx.x * kWarps + threadIdx.y;
    if (individual >= population) return;
    int16_t *trial = trials[threadIdx.y], *parent = parents[threadIdx.y];
    const size_t row = static_cast<size_t>(individual) * genes;
    const int16_t* a = vectors + static_cast<size_t>(picks[3 * individual]) * genes;
    const int16_t* b = vectors + static_cast<size_t>(picks[3 * individual + 1]) * genes;
    const int16_t* c = vectors + static_cast<size_t>(picks[3 * individual + 2]) * genes;
    const int must = forced[individual];
    for (int g = lane; g < genes; g += 32) {
        int value = parent[g] = vectors[row + g];
        if (g == must || dice[row + g] < settings.rate) {
            value = a[g] + ((settings.factor * (b[g] - c[g])) >> 8);
            value = min(max(value, -settings.bound), settings.bound);
        }
        trial[g] = static_cast<int16_t>(value);
    }
    __syncwarp();

    long long oldCost = 0, newCost = 0;
    for (int g = lane; g < genes; g += 32) {
        const int next = g + 1 < genes ? g + 1 : 0;
        oldCost += gap(parent[g], parent[next], center[g]);
        newCost += gap(trial[g], trial[next], center[g]);
    }
    oldCost = warpTotal(oldCost);
    newCost = warpTotal(newCost);
    const bool wins = newCost <= oldCost;
    const int16_t* winner = wins ? trial : parent;
    for (int g = lane; g < genes; g += 32) survivors[row + g] = winner[g];
    if (lane == 0) {
        const long long kept = wins ? newCost : oldCost;
        costs[individual] = kept;  // below 2^42, so that the number fits below it
        atomicMin(best, static_cast<unsigned long long>(kept) << 16 | static_cast<unsigned long long>(individual));
    }
}

void check(cudaError_t status, const std::string& what) {
    if (status != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(std::string(path) + ": wrong size");
    return values;
}

template <typename T>
class Device {
  public:
    explicit Device(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc"); }
    explicit Device(const std::vector<T>& host) : Device(host.size()) {
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
    }
    Device(const Device&) = delete;
    ~Device() { cudaFree(data_); }
    T* get() const { return data_; }
    std::vector<T> values() const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
        return host;
    }

  private:
    T* data_ = nullptr;
    size_t count_;
};

template <typename T>
void writeFile(const char* path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(std::string(path) + ": cannot be written");
}

void requireBelow(const std::vector<int>& values, int limit, const char* path) {
    for (int value : values) {
        if (value < 0 || value >= limit) throw std::runtime_error(std::string(path) + ": a number out of range");
    }
}

void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int population = sizes[0], genes = sizes[1];
    if (population < 4 || population > 65536 || genes < 2 || genes > kMaxGenes) throw std::runtime_error("sizes");
    const auto three = readFile<int>("data/settings.bin", 3);
    const Settings settings{three[0], three[1], three[2]};
    if (settings.factor < 0 || settings.factor > 512 || settings.rate < 0 || settings.rate > 256 ||
        settings.bound < 1 || settings.bound > 32767) {
        throw std::runtime_error("data/settings.bin: out of range");
    }
    const size_t cells = static_cast<size_t>(population) * genes;
    const auto picks = readFile<int>("data/picks.bin", 3 * static_cast<size_t>(population));
    const auto forced = readFile<int>("data/forced.bin", population);
    requireBelow(picks, population, "data/picks.bin");
    requireBelow(forced, genes, "data/forced.bin");
    const Device<int16_t> vectors(readFile<int16_t>("data/vectors.bin", cells));
    const Device<int16_t> center(readFile<int16_t>("data/center.bin", genes));
    const Device<uint8_t> dice(readFile<uint8_t>("data/dice.bin", cells));
    const Device<int> dPicks(picks), dForced(forced);
    const Device<int16_t> survivors(cells);
    const Device<long long> costs(population);
    const Device<unsigned long long> best(std::vector<unsigned long long>{~0ULL});
    evolve<<<(population + kWarps - 1) / kWarps, dim3(32, kWarps)>>>(
        vectors.get(), center.get(), dPicks.get(), dForced.get(), dice.get(), survivors.get(), costs.get(), best.get(),
        population, genes, settings);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "evolve");
    writeFile("data/survivors.bin", survivors.values());
    writeFile("data/costs.bin", costs.values());
    writeFile("data/best.bin", std::vector<int>{static_cast<int>(best.values()[0] & 0xFFFF)});
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
