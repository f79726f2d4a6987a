#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxChannels = 16384, kMaxSamples = 65536, kTaps = 32, kWarps = 4;
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void adapt(const float* __restrict__ x, const float* __restrict__ desired, float rate,
                      float* __restrict__ error, float* __restrict__ weights, int channels, int samples) {
    const int channel = blockIdx.x * kWarps + threadIdx.y, lane = threadIdx.x;
    if (channel >= channels) return;  // a whole warp
    const size_t row = static_cast<size_t>(channel) * samples;
    float weight = 0.0f, delayed = 0.0f;
    for (int begin = 0; begin < samples; begin += 32) {
        const int count = min(32, samples - begin);
        const bool inside = lane < count;
        const float sample = inside ? x[row + begin + lane] : 0.0f;
        const float wanted = inside ? desired[row + begin + lane] : 0.0f;
        float kept = 0.0f;
        for (int s = 0; s < count; ++s) {
            const float moved = __shfl_up_sync(kAll, delayed, 1), newest = __shfl_sync(kAll, sample, s);
            delayed = lane == 0 ? newest : moved;
            float prediction = weight * delayed;
            for (int step = 16; step > 0; step /= 2) prediction += __shfl_xor_sync(kAll, prediction, step);
            const float e = __shfl_sync(kAll, wanted, s) - prediction;
            weight += rate * e * delayed;
            if (lane == s) kept = e;
        }
        if (inside) error[row + begin + lane] = kept;
    }
    weights[static_cast<size_t>(channel) * kTaps + lane] = weight;
}

#define CUDA_OR_EXIT(call)                                                          \
    do {                                                                            \
        cudaError_t result = (call);                                                \
        if (result != cudaSuccess) {                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result));         \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static std::vector<float> readFloats(const char* path, size_t count) {
    std::vector<float> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(float), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu floats\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

static void writeDevice(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    CUDA_OR_EXIT(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(float), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    int sizes[2];
    FILE* file = fopen("data/sizes.bin", "rb");
    if (!file || fread(sizes, sizeof(int), 2, file) != 2 || fgetc(file) != EOF) {
        fprintf(stderr, "data/sizes.bin: expected two values\n");
        return 1;
    }
    fclose(file);
    const int channels = sizes[0], samples = sizes[1];
    if (channels < 1 || channels > kMaxChannels || samples < 1 || samples > kMaxSamples) {
        fprintf(stderr, "data/sizes.bin: %d channels of %d samples: out of range\n", channels, samples);
        return 1;
    }
    const size_t count = static_cast<size_t>(channels) * samples, bytes = count * sizeof(float);
    const auto x = readFloats("data/x.bin", count), desired = readFloats("data/desired.bin", count);
    const float rate = readFloats("data/rate.bin", 1)[0];
    float *dX, *dDesired, *dError, *dWeights;
    CUDA_OR_EXIT(cudaMalloc(&dX, bytes));
    CUDA_OR_EXIT(cudaMalloc(&dDesired, bytes));
    CUDA_OR_EXIT(cudaMalloc(&dError, bytes));
    CUDA_OR_EXIT(cudaMalloc(&dWeights, channels * kTaps * sizeof(float)));
    CUDA_OR_EXIT(cudaMemcpy(dX, x.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_OR_EXIT(cudaMemcpy(dDesired, desired.data(), bytes, cudaMemcpyHostToDevice));
    const int blocks = (channels + kWarps - 1) / kWarps;
    adapt<<<blocks, dim3(kTaps, kWarps)>>>(dX, dDesired, rate, dError, dWeights, channels, samples);
    CUDA_OR_EXIT(cudaGetLastError());
    writeDevice("data/error.bin", dError, count);
    writeDevice("data/weights.bin", dWeights, static_cast<size_t>(channels) * kTaps);
    CUDA_OR_EXIT(cudaFree(dX));
    CUDA_OR_EXIT(cudaFree(dDesired));
    CUDA_OR_EXIT(cudaFree(dError));
    CUDA_OR_EXIT(cudaFree(dWeights));
    return 0;
}
