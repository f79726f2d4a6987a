#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int STATES = 6;
__constant__ uint32_t kWeights[5];  // by the number of equal neighbours

__global__ void updateColour(uint8_t* spins, const uint32_t* __restrict__ random, int colour, int height, int width) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (2 * pair >= width || y >= height) return;
    const int x = 2 * pair + ((y + colour) & 1);
    const int up = y == 0 ? height - 1 : y - 1, down = y + 1 == height ? 0 : y + 1;
    const int left = x == 0 ? width - 1 : x - 1, right = x + 1 == width ? 0 : x + 1;
    uint32_t counts = 0;  // four bits for each state
    counts += 1u << (4 * spins[up * width + x]);
    counts += 1u << (4 * spins[down * width + x]);
    counts += 1u << (4 * spins[y * width + left]);
    counts += 1u << (4 * spins[y * width + right]);
    uint32_t total = 0;
    for (int s = 0; s < STATES; ++s) total += kWeights[counts >> (4 * s) & 15];
    const uint32_t pick = static_cast<uint32_t>(static_cast<uint64_t>(random[y * width + x]) * total >> 32);
    int state = 0;
    uint32_t sum = kWeights[counts & 15];
    while (pick >= sum) {
        ++state;
        sum += kWeights[counts >> (4 * state) & 15];
    }
    spins[y * width + x] = static_cast<uint8_t>(state);
}

__global__ void countBonds(const uint8_t* __restrict__ spins, int* bonds, int height, int width) {
    int count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < height * width; i += gridDim.x * blockDim.x) {
        const int y = i / width, x = i % width;
        const int up = y == 0 ? height - 1 : y - 1, left = x == 0 ? width - 1 : x - 1;
        count += (spins[i] == spins[up * width + x]) + (spins[i] == spins[y * width + left]);
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (threadIdx.x % 32 == 0) atomicAdd(bonds, count);
}

#define CHECK(call)                                                                          \
    do {                                                                                     \
        const cudaError_t status = (call);                                                   \
        if (status != cudaSuccess) {                                                         \
            fprintf(stderr, "CUDA error %s, line %d\n", cudaGetErrorString(status), __LINE__); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) exit(1);
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    if (sizes[0] < 1 || sizes[0] > 1024 || sizes[1] < 1 || sizes[1] > 1024 || sizes[2] < 1 || sizes[2] > 32) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const int height = 2 * sizes[0], width = 2 * sizes[1], sweeps = sizes[2];
    const size_t sites = static_cast<size_t>(height) * width;
    const auto start = readFile<uint8_t>("data/spins.bin", sites);
    const auto weights = readFile<uint32_t>("data/weights.bin", 5);
    const auto random = readFile<uint32_t>("data/random.bin", sweeps * sites);
    for (uint8_t spin : start) {
        if (spin >= STATES) return 1;
    }
    for (uint32_t weight : weights) {
        if (weight < 1 || weight > 1000000) return 1;
    }
    uint8_t* spins;
    uint32_t* dRandom;
    int* bonds;
    CHECK(cudaMalloc(&spins, sites));
    CHECK(cudaMalloc(&dRandom, random.size() * sizeof(uint32_t)));
    CHECK(cudaMalloc(&bonds, sweeps * sizeof(int)));
    CHECK(cudaMemcpy(spins, start.data(), sites, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dRandom, random.data(), random.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(kWeights, weights.data(), 5 * sizeof(uint32_t)));
    CHECK(cudaMemset(bonds, 0, sweeps * sizeof(int)));
    const dim3 block(32, 8), grid((width / 2 + 31) / 32, (height + 7) / 8);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int colour = 0; colour < 2; ++colour) {
            updateColour<<<grid, block>>>(spins, dRandom + sweep * sites, colour, height, width);
        }
        countBonds<<<64, 256>>>(spins, bonds + sweep, height, width);
    }
    CHECK(cudaGetLastError());
    writeFile("data/spins_out.bin", spins, sites);
    writeFile("data/bonds.bin", bonds, sweeps);
    CHECK(cudaFree(spins));
    CHECK(cudaFree(dRandom));
    CHECK(cudaFree(bonds));
    return 0;
}
