#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxChannels = 1024, kMinCoarse = 3, kMaxCoarse = 65536, kMaxFine = 262144;
constexpr int kPoints = 32, kRows = 8, kChannelsPerBlock = 32;

__global__ void blend(const float* __restrict__ features, const int* __restrict__ index,
                      const float* __restrict__ distance, float* __restrict__ blended, int channels, int coarse,
                      int fine) {
    __shared__ float weight[3][kPoints];
    __shared__ int from[3][kPoints];
    const int i = blockIdx.x * kPoints + threadIdx.x;
    if (threadIdx.y == 0 && i < fine) {
        float w[3], sum = 0.0f;
        for (int s = 0; s < 3; ++s) {
            w[s] = 1.0f / (distance[3 * i + s] + 1e-6f);
            sum += w[s];
            from[s][threadIdx.x] = index[3 * i + s];
        }
        for (int s = 0; s < 3; ++s) weight[s][threadIdx.x] = w[s] / sum;
    }
    __syncthreads();
    if (i >= fine) return;
    for (int r = threadIdx.y; r < kChannelsPerBlock; r += kRows) {
        const int c = blockIdx.y * kChannelsPerBlock + r;
        if (c >= channels) return;
        const float* row = features + static_cast<size_t>(c) * coarse;
        float sum = 0.0f;
        for (int s = 0; s < 3; ++s) sum += weight[s][threadIdx.x] * row[from[s][threadIdx.x]];
        blended[static_cast<size_t>(c) * fine + i] = sum;
    }
}

#define CUDA(call)                                                                                   \
    do {                                                                                             \
        const cudaError_t result = call;                                                             \
        if (result != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(result));              \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (false)

template <typename T>
static T* upload(const char* path, size_t count, int limit = 0) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    bool good = in.gcount() == static_cast<std::streamsize>(count * sizeof(T)) && in.peek() == EOF;
    if (limit > 0) {
        for (T value : values) good = good && value >= 0 && value < limit;
    }
    if (!good) {
        std::fprintf(stderr, "%s: expected %zu valid values\n", path, count);
        std::exit(1);
    }
    T* device = nullptr;
    CUDA(cudaMalloc(&device, count * sizeof(T)));
    CUDA(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    int sizes[3], *dSizes = upload<int>("data/sizes.bin", 3);
    CUDA(cudaMemcpy(sizes, dSizes, sizeof(sizes), cudaMemcpyDeviceToHost));
    const int channels = sizes[0], coarse = sizes[1], fine = sizes[2];
    if (channels < 1 || channels > kMaxChannels || coarse < kMinCoarse || coarse > kMaxCoarse || fine < 1 ||
        fine > kMaxFine) {
        std::fprintf(stderr, "data/sizes.bin: %d, %d, %d is out of range\n", channels, coarse, fine);
        return 1;
    }
    const size_t results = static_cast<size_t>(channels) * fine;
    float* dFeatures = upload<float>("data/features.bin", static_cast<size_t>(channels) * coarse);
    int* dIndex = upload<int>("data/index.bin", static_cast<size_t>(fine) * 3, coarse);
    float* dDistance = upload<float>("data/distance.bin", static_cast<size_t>(fine) * 3);
    float* dBlended = nullptr;
    CUDA(cudaMalloc(&dBlended, results * sizeof(float)));

    const dim3 block(kPoints, kRows);
    const dim3 grid((fine + kPoints - 1) / kPoints, (channels + kChannelsPerBlock - 1) / kChannelsPerBlock);
    blend<<<grid, block>>>(dFeatures, dIndex, dDistance, dBlended, channels, coarse, fine);
    CUDA(cudaGetLastError());

    std::vector<float> blended(results);
    CUDA(cudaMemcpy(blended.data(), dBlended, results * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out("data/blended.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(blended.data()), results * sizeof(float));
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/blended.bin: cannot be written\n");
        return 1;
    }
    CUDA(cudaFree(dSizes));
    CUDA(cudaFree(dFeatures));
    CUDA(cudaFree(dIndex));
    CUDA(cudaFree(dDistance));
    CUDA(cudaFree(dBlended));
    return 0;
}
