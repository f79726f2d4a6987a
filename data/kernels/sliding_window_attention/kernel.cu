#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxHeads = 64, kMaxLength = 8192, kMaxWindow = 1024;
constexpr int kDim = 64;
constexpr int kKeys = 32;    // keys per tile, one per lane
constexpr int kQueries = 8;  // queries per block, one per warp
constexpr int kThreads = 32 * kQueries;
constexpr unsigned kFull = 0xffffffffu;
static_assert(kQueries <= kKeys, "the first tile must hold a visible key for every query of the block");

__global__ void attendWindow(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                             float* __restrict__ out, int length, int window) {
    __shared__ float tileQ[kQueries][kDim];
    __shared__ float tileK[kKeys][kDim + 1];
    __shared__ float tileV[kKeys][kDim];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t head = static_cast<size_t>(blockIdx.y) * length * kDim;
    const int firstQuery = blockIdx.x * kQueries;
    const int lastQuery = min(firstQuery + kQueries, length) - 1;
    const int query = min(firstQuery + warp, lastQuery);
    const int firstVisible = max(0, query - window + 1);

    tileQ[warp][lane] = q[head + query * kDim + lane] * 0.125f;
    tileQ[warp][lane + 32] = q[head + query * kDim + lane + 32] * 0.125f;

    float largest = -INFINITY, sum = 0.0f, low = 0.0f, high = 0.0f;
    for (int key0 = max(0, firstQuery - window + 1); key0 <= lastQuery; key0 += kKeys) {
        for (int e = threadIdx.x; e < kKeys * kDim; e += kThreads) {
            const int row = e / kDim, d = e % kDim;
            const bool exists = key0 + row < length;
            const size_t source = head + static_cast<size_t>(key0) * kDim + e;
            tileK[row][d] = exists ? k[source] : 0.0f;
            tileV[row][d] = exists ? v[source] : 0.0f;
        }
        __syncthreads();

        float score = 0.0f;
        for (int d = 0; d < kDim; ++d) score += tileQ[warp][d] * tileK[lane][d];
        const int key = key0 + lane;
        if (key < firstVisible || key > query) score = -INFINITY;

        float newLargest = fmaxf(largest, score);
        for (int mask = 16; mask > 0; mask /= 2) {
            newLargest = fmaxf(newLargest, __shfl_xor_sync(kFull, newLargest, mask));
        }
        const float keep = expf(largest - newLargest);
        const float weight = expf(score - newLargest);
        largest = newLargest;
        sum = sum * keep + weight;  // a share per lane, added up at the end
        low *= keep;
        high *= keep;
        for (int j = 0; j < kKeys; ++j) {
            const float w = __shfl_sync(kFull, weight, j);
            low += w * tileV[j][lane];
            high += w * tileV[j][lane + 32];
        }
        __syncthreads();
    }

    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(kFull, sum, mask);
    if (firstQuery + warp <= lastQuery) {
        out[head + query * kDim + lane] = low / sum;
        out[head + query * kDim + lane + 32] = high / sum;
    }
}

#define CHECK(call)                                                                 \
    do {                                                                            \
        const cudaError_t status = (call);                                          \
        if (status != cudaSuccess) {                                                \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0) || !in.read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: not a file of %lld bytes\n", path, static_cast<long long>(bytes));
        exit(1);
    }
    return values;
}

static float* load(const char* path, size_t count) {
    const std::vector<float> host = readFile<float>(path, count);
    float* device = nullptr;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int heads = sizes[0], length = sizes[1], window = sizes[2];
    if (heads < 1 || heads > kMaxHeads || length < 1 || length > kMaxLength || window < 1 || window > kMaxWindow) {
        fprintf(stderr, "data/sizes.bin: heads %d, length %d, window %d: out of range\n", heads, length, window);
        return 1;
    }
    const size_t count = static_cast<size_t>(heads) * length * kDim;
    float* q = load("data/q.bin", count);
    float* k = load("data/k.bin", count);
    float* v = load("data/v.bin", count);
    float* out = nullptr;
    CHECK(cudaMalloc(&out, count * sizeof(float)));

    attendWindow<<<dim3((length + kQueries - 1) / kQueries, heads), kThreads>>>(q, k, v, out, length, window);
    CHECK(cudaGetLastError());
    std::vector<float> result(count);
    CHECK(cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* pointer : {q, k, v, out}) CHECK(cudaFree(pointer));

    std::ofstream file("data/out.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(result.data()), count * sizeof(float));
    file.close();
    if (!file) {
        fprintf(stderr, "data/out.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
