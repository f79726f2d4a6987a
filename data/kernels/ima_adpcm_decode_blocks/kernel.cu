#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxBlocks = 262144, kMaxBytes = 4096, kSteps = 89, kTile = 32;

__device__ int decode(int code, int& value, int& state, const int* steps) {
    const int step = steps[state];
    int difference = step >> 3;
    if (code & 4) difference += step;
    if (code & 2) difference += step >> 1;
    if (code & 1) difference += step >> 2;
    value += code & 8 ? -difference : difference;
    value = min(max(value, -32768), 32767);
    const int size = code & 7;
    state = min(max(state + (size < 4 ? -1 : 2 * size - 6), 0), kSteps - 1);
    return value;
}

__global__ void decodeBlocks(const uint8_t* __restrict__ codes, const int16_t* __restrict__ predictor,
                             const uint8_t* __restrict__ startState, const int* __restrict__ steps,
                             uint32_t* __restrict__ samples, int blocks, int bytes) {
    __shared__ uint8_t input[kTile][kTile + 4];
    __shared__ uint32_t output[kTile][kTile + 1];
    __shared__ int table[kSteps];
    const int lane = threadIdx.x, first = blockIdx.x * kTile;
    const int present = min(kTile, blocks - first);
    for (int s = lane; s < kSteps; s += kTile) table[s] = steps[s];
    const int own = first + min(lane, present - 1);
    int value = predictor[own], state = startState[own];

    for (int begin = 0; begin < bytes; begin += kTile) {
        const bool inside = begin + lane < bytes;
        for (int r = 0; r < kTile; ++r) {
            const size_t at = static_cast<size_t>(first + r) * bytes + begin + lane;
            input[r][lane] = inside && r < present ? codes[at] : uint8_t{0};
        }
        __syncwarp();
        for (int k = 0; k < kTile; ++k) {
            const int byte = input[lane][k];
            const uint32_t low = static_cast<uint32_t>(decode(byte & 15, value, state, table)) & 0xFFFFu;
            const uint32_t high = static_cast<uint32_t>(decode(byte >> 4, value, state, table));
            output[lane][k] = low | high << 16;
        }
        __syncwarp();
        for (int r = 0; r < present; ++r) {
            if (inside) samples[static_cast<size_t>(first + r) * bytes + begin + lane] = output[r][lane];
        }
        __syncwarp();
    }
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
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

template <typename T>
T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int blocks = sizes[0], bytes = sizes[1];
    if (blocks < 1 || blocks > kMaxBlocks || bytes < 1 || bytes > kMaxBytes) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const size_t count = static_cast<size_t>(blocks) * bytes;
    const auto codes = readFile<uint8_t>("data/codes.bin", count);
    const auto predictor = readFile<int16_t>("data/predictor.bin", blocks);
    const auto state = readFile<uint8_t>("data/state.bin", blocks);
    const auto steps = readFile<int>("data/steps.bin", kSteps);
    for (uint8_t s : state) {
        if (s >= kSteps) throw std::runtime_error("data/state.bin: a state above 88");
    }
    uint8_t *dCodes = upload(codes), *dState = upload(state);
    int16_t* dPredictor = upload(predictor);
    int* dSteps = upload(steps);
    uint32_t* dSamples = nullptr;  // two samples a word
    check(cudaMalloc(&dSamples, count * sizeof(uint32_t)));
    decodeBlocks<<<(blocks + kTile - 1) / kTile, kTile>>>(dCodes, dPredictor, dState, dSteps, dSamples, blocks, bytes);
    check(cudaGetLastError());
    std::vector<uint32_t> samples(count);
    check(cudaMemcpy(samples.data(), dSamples, count * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    for (void* buffer : {(void*)dCodes, (void*)dState, (void*)dPredictor, (void*)dSteps, (void*)dSamples}) {
        check(cudaFree(buffer));
    }
    std::ofstream out("data/samples.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(samples.data()), count * sizeof(uint32_t));
    out.close();
    if (!out) throw std::runtime_error("data/samples.bin: cannot be written");
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
