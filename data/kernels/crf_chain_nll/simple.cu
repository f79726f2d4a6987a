#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxTags = 32;

// The forward recursion of one sequence, in logarithms, by one thread.
__global__ void forward(const int* lengths, const float* emissions, const float* transitions, const float* borders,
                        const int* gold, float* logPartition, float* nll, int sequences, int steps, int tags) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sequences) return;
    const float* row = emissions + (size_t)s * steps * tags;
    const int* tag = gold + (size_t)s * steps;
    double alpha[kMaxTags], next[kMaxTags];
    for (int k = 0; k < tags; ++k) alpha[k] = (double)borders[k] + row[k];
    double score = (double)borders[tag[0]] + row[tag[0]];

    for (int t = 1; t < lengths[s]; ++t) {
        row += tags;
        for (int k = 0; k < tags; ++k) {
            double top = -1e300, sum = 0.0;
            for (int a = 0; a < tags; ++a) top = fmax(top, alpha[a] + transitions[a * tags + k]);
            for (int a = 0; a < tags; ++a) sum += exp(alpha[a] + transitions[a * tags + k] - top);
            next[k] = top + log(sum) + row[k];
        }
        for (int k = 0; k < tags; ++k) alpha[k] = next[k];
        score += (double)transitions[tag[t - 1] * tags + tag[t]] + row[tag[t]];
    }
    score += borders[tags + tag[lengths[s] - 1]];

    double top = -1e300, sum = 0.0;
    for (int k = 0; k < tags; ++k) top = fmax(top, alpha[k] + borders[tags + k]);
    for (int k = 0; k < tags; ++k) sum += exp(alpha[k] + borders[tags + k] - top);
    const double partition = top + log(sum);
    logPartition[s] = (float)partition;
    nll[s] = (float)(partition - score);
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// A file's values in managed memory.
template <typename T>
T* load(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || (size_t)in.tellg() != count * sizeof(T)) throw std::runtime_error(path + ": wrong size");
    T* values = nullptr;
    check(cudaMallocManaged(&values, count * sizeof(T)));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values), count * sizeof(T));
    return values;
}

void save(const std::string& path, const float* values, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() try {
    int32_t* sizes = load<int32_t>("data/sizes.bin", 3);
    const int sequences = sizes[0], steps = sizes[1], tags = sizes[2];
    if (sequences < 1 || sequences > 65536 || steps < 1 || steps > 4096 || tags < 2 || tags > kMaxTags) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const size_t cells = (size_t)sequences * steps;
    int* lengths = load<int>("data/lengths.bin", sequences);
    int* gold = load<int>("data/gold.bin", cells);
    for (size_t i = 0; i < cells; ++i) {
        const int length = lengths[i / steps];
        if (length < 1 || length > steps) throw std::runtime_error("data/lengths.bin: out of range");
        if ((int)(i % steps) < length && (gold[i] < 0 || gold[i] >= tags)) throw std::runtime_error("data/gold.bin");
    }
    float* emissions = load<float>("data/emissions.bin", cells * tags);
    float* transitions = load<float>("data/transitions.bin", (size_t)tags * tags);
    float* borders = load<float>("data/borders.bin", 2 * (size_t)tags);
    float *logPartition = nullptr, *nll = nullptr;
    check(cudaMallocManaged(&logPartition, sequences * sizeof(float)));
    check(cudaMallocManaged(&nll, sequences * sizeof(float)));

    forward<<<(sequences + 63) / 64, 64>>>(lengths, emissions, transitions, borders, gold, logPartition, nll,
                                           sequences, steps, tags);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    save("data/log_partition.bin", logPartition, sequences);
    save("data/nll.bin", nll, sequences);
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
