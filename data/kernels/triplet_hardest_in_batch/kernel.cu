#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kWarps = 8;
constexpr float kMargin = 0.5f;

__global__ void hardestTriplet(const float* __restrict__ embeddings, const int* __restrict__ labels,
                               float* __restrict__ loss, int items, int width) {
    extern __shared__ float anchor[];
    __shared__ float farthest[kWarps], nearest[kWarps];
    const int i = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int d = threadIdx.x; d < width; d += blockDim.x) anchor[d] = embeddings[static_cast<size_t>(i) * width + d];
    __syncthreads();

    const int label = labels[i];
    float positive = -1.0f, negative = INFINITY;
    for (int j = warp; j < items; j += kWarps) {
        if (j == i) continue;  // the same for the whole warp
        const float* row = embeddings + static_cast<size_t>(j) * width;
        float sum = 0.0f;
        for (int d = lane; d < width; d += 32) {
            const float diff = anchor[d] - row[d];
            sum = fmaf(diff, diff, sum);
        }
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (labels[j] == label) {
            positive = fmaxf(positive, sum);
        } else {
            negative = fminf(negative, sum);
        }
    }
    if (lane == 0) {
        farthest[warp] = positive;
        nearest[warp] = negative;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kWarps; ++w) {
            positive = fmaxf(positive, farthest[w]);
            negative = fminf(negative, nearest[w]);
        }
        const bool complete = positive >= 0.0f && negative < INFINITY;
        loss[i] = complete ? fmaxf(0.0f, sqrtf(positive) - sqrtf(negative) + kMargin) : 0.0f;
    }
}

#define CUDA_CALL(call)                                                                      \
    do {                                                                                     \
        const cudaError_t status = call;                                                     \
        if (status != cudaSuccess) {                                                         \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));             \
            std::exit(EXIT_FAILURE);                                                         \
        }                                                                                    \
    } while (false)

template <typename T>
std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> array(count);
    std::FILE* file = std::fopen(path, "rb");
    const bool good = file && std::fread(array.data(), sizeof(T), count, file) == count && std::fgetc(file) == EOF;
    if (file) std::fclose(file);
    if (!good) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    return array;
}

int main() {
    const auto sizes = readArray<int32_t>("data/sizes.bin", 2);
    const int items = sizes[0], width = sizes[1];
    if (items < 2 || items > 8192 || width < 1 || width > 1024) {
        std::fprintf(stderr, "data/sizes.bin: %d items of width %d\n", items, width);
        return EXIT_FAILURE;
    }
    const auto embeddings = readArray<float>("data/embeddings.bin", static_cast<size_t>(items) * width);
    const auto labels = readArray<int32_t>("data/labels.bin", items);
    float *dEmbeddings, *dLoss;
    int* dLabels;
    CUDA_CALL(cudaMalloc(&dEmbeddings, embeddings.size() * sizeof(float)));
    CUDA_CALL(cudaMalloc(&dLabels, items * sizeof(int)));
    CUDA_CALL(cudaMalloc(&dLoss, items * sizeof(float)));
    CUDA_CALL(cudaMemcpy(dEmbeddings, embeddings.data(), embeddings.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(dLabels, labels.data(), items * sizeof(int), cudaMemcpyHostToDevice));

    hardestTriplet<<<items, 32 * kWarps, width * sizeof(float)>>>(dEmbeddings, dLabels, dLoss, items, width);
    CUDA_CALL(cudaGetLastError());
    std::vector<float> loss(items);
    CUDA_CALL(cudaMemcpy(loss.data(), dLoss, items * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaFree(dEmbeddings));
    CUDA_CALL(cudaFree(dLabels));
    CUDA_CALL(cudaFree(dLoss));

    std::FILE* out = std::fopen("data/loss.bin", "wb");
    if (!out || std::fwrite(loss.data(), sizeof(float), loss.size(), out) != loss.size() || std::fclose(out) != 0) {
        std::fprintf(stderr, "data/loss.bin: cannot be written\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
