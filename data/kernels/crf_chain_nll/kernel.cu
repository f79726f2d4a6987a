#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                          \
    do {                                                                                     \
        const cudaError_t status_ = (call);                                                  \
        if (status_ != cudaSuccess) {                                                        \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_));            \
            std::exit(2);                                                                    \
        }                                                                                    \
    } while (0)

constexpr int kWarps = 4;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr float kNone = -1e30f;

__device__ float warpMax(float x) {
    for (int d = 16; d; d /= 2) x = fmaxf(x, __shfl_xor_sync(kAll, x, d));
    return x;
}

template <typename T>
__device__ T warpSum(T x) {
    for (int d = 16; d; d /= 2) x += __shfl_xor_sync(kAll, x, d);
    return x;
}

__global__ void crf(const int* __restrict__ lengths, const float* __restrict__ emissions,
                    const float* __restrict__ transitions, const float* __restrict__ borders,
                    const int* __restrict__ gold, float* logPartition, float* nll, int sequences, int steps,
                    int tags) {
    __shared__ float factor[32 * 32];  // exp(transitions), one row per tag that is left
    for (int i = threadIdx.x; i < tags * tags; i += blockDim.x) factor[i] = expf(transitions[i]);
    __syncthreads();

    const int lane = threadIdx.x % 32;
    const int s = blockIdx.x * kWarps + threadIdx.x / 32;
    if (s >= sequences) return;
    const int length = lengths[s];
    const bool used = lane < tags;
    const float* emission = emissions + static_cast<size_t>(s) * steps * tags;
    const int* tag = gold + static_cast<size_t>(s) * steps;

    float alpha = used ? borders[lane] + emission[lane] : kNone;
    double offset = 0.0;  // log of everything that was divided out of alpha
    for (int t = 1; t < length; ++t) {
        const float next = used ? emission[static_cast<size_t>(t) * tags + lane] : 0.0f;
        const float top = warpMax(alpha);
        offset += top;
        const float p = used ? expf(alpha - top) : 0.0f;
        float sum = 0.0f;
        for (int a = 0; a < tags; ++a) {
            const float from = __shfl_sync(kAll, p, a);
            if (used) sum += from * factor[a * tags + lane];
        }
        if (used) alpha = logf(sum) + next;
    }
    if (used) alpha += borders[tags + lane];
    const float top = warpMax(alpha);
    const float sum = warpSum(used ? expf(alpha - top) : 0.0f);

    double score = 0.0;
    for (int t = lane; t < length; t += 32) {
        score += emission[static_cast<size_t>(t) * tags + tag[t]];
        score += t == 0 ? borders[tag[t]] : transitions[tag[t - 1] * tags + tag[t]];
        if (t == length - 1) score += borders[tags + tag[t]];
    }
    score = warpSum(score);
    if (lane == 0) {
        const double partition = offset + top + log(static_cast<double>(sum));
        logPartition[s] = static_cast<float>(partition);
        nll[s] = static_cast<float>(partition - score);
    }
}

static void quit(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(1);
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) quit(path);
    std::fclose(file);
    return values;
}

template <typename T>
static T* onDevice(const std::vector<T>& values) {
    T* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

static void save(const char* path, const float* device, int count) {
    std::vector<float> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(float), count, file) != values.size()) quit(path);
    if (std::fclose(file) != 0) quit(path);
}

int main() {
    const auto sizes = load<int32_t>("data/sizes.bin", 3);
    const int sequences = sizes[0], steps = sizes[1], tags = sizes[2];
    if (sequences < 1 || sequences > 65536 || steps < 1 || steps > 4096 || tags < 2 || tags > 32) quit("sizes");
    const size_t cells = static_cast<size_t>(sequences) * steps;
    const auto lengths = load<int32_t>("data/lengths.bin", sequences);
    const auto gold = load<int32_t>("data/gold.bin", cells);
    for (int s = 0; s < sequences; ++s) {
        if (lengths[s] < 1 || lengths[s] > steps) quit("data/lengths.bin: a length out of range");
        for (int t = 0; t < lengths[s]; ++t) {
            const int tag = gold[static_cast<size_t>(s) * steps + t];
            if (tag < 0 || tag >= tags) quit("data/gold.bin: a tag out of range");
        }
    }
    int* dLengths = onDevice(lengths);
    int* dGold = onDevice(gold);
    float* dEmissions = onDevice(load<float>("data/emissions.bin", cells * tags));
    float* dTransitions = onDevice(load<float>("data/transitions.bin", tags * tags));
    float* dBorders = onDevice(load<float>("data/borders.bin", 2 * tags));
    float* dResult = nullptr;
    CHECK(cudaMalloc(&dResult, 2 * sequences * sizeof(float)));
    float* dNll = dResult + sequences;
    const int blocks = (sequences + kWarps - 1) / kWarps;
    crf<<<blocks, 32 * kWarps>>>(dLengths, dEmissions, dTransitions, dBorders, dGold, dResult, dNll, sequences, steps,
                                 tags);
    CHECK(cudaGetLastError());
    save("data/log_partition.bin", dResult, sequences);
    save("data/nll.bin", dNll, sequences);
    for (float* buffer : {dEmissions, dTransitions, dBorders, dResult}) CHECK(cudaFree(buffer));
    for (int* buffer : {dLengths, dGold}) CHECK(cudaFree(buffer));
    return 0;
}
