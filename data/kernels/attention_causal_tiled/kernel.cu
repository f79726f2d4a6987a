#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxHeads = 128;
constexpr int kMaxLength = 4096;
constexpr int kDim = 64;
constexpr int kTile = 32;                   // queries per block and keys per tile
constexpr int kParts = 4;                   // threads per query
constexpr int kThreads = kTile * kParts;
constexpr int kKeysPerThread = kTile / kParts;
constexpr int kDimsPerThread = kDim / kParts;
constexpr unsigned kFull = 0xffffffffu;

__global__ void causalAttention(const float* __restrict__ q, const float* __restrict__ k,
                                const float* __restrict__ v, float* __restrict__ out, int length) {
    __shared__ float sq[kTile][kDim + 1];
    __shared__ float sk[kTile][kDim + 1];
    __shared__ float sv[kTile][kDim];
    __shared__ float weight[kTile][kTile + 1];

    const int local = threadIdx.x / kParts;
    const int part = threadIdx.x % kParts;
    const int query = blockIdx.x * kTile + local;
    const size_t head = static_cast<size_t>(blockIdx.y) * length * kDim;

    for (int e = threadIdx.x; e < kTile * kDim; e += kThreads) {
        int row = blockIdx.x * kTile + e / kDim;
        sq[e / kDim][e % kDim] = row < length ? q[head + row * kDim + e % kDim] * 0.125f : 0.0f;
    }

    float largest = -INFINITY, total = 0.0f;
    float sum[kDimsPerThread] = {};
    const int lastTile = blockIdx.x;
    for (int tile = 0; tile <= lastTile; ++tile) {
        for (int e = threadIdx.x; e < kTile * kDim; e += kThreads) {
            int row = tile * kTile + e / kDim;
            bool inside = row < length;
            sk[e / kDim][e % kDim] = inside ? k[head + row * kDim + e % kDim] : 0.0f;
            sv[e / kDim][e % kDim] = inside ? v[head + row * kDim + e % kDim] : 0.0f;
        }
        __syncthreads();

        float score[kKeysPerThread];
        float tileMax = -INFINITY;
#pragma unroll
        for (int n = 0; n < kKeysPerThread; ++n) {
            const int j = part + kParts * n;
            const int key = tile * kTile + j;
            float dot = 0.0f;
            for (int d = 0; d < kDim; ++d) dot += sq[local][d] * sk[j][d];
            score[n] = key <= query && key < length ? dot : -INFINITY;
            tileMax = fmaxf(tileMax, score[n]);
        }
        tileMax = fmaxf(tileMax, __shfl_xor_sync(kFull, tileMax, 1));
        tileMax = fmaxf(tileMax, __shfl_xor_sync(kFull, tileMax, 2));

        const float newLargest = fmaxf(largest, tileMax);
        const float correction = expf(largest - newLargest);
        float added = 0.0f;
#pragma unroll
        for (int n = 0; n < kKeysPerThread; ++n) {
            float w = expf(score[n] - newLargest);
            weight[local][part + kParts * n] = w;
            added += w;
        }
        added += __shfl_xor_sync(kFull, added, 1);
        added += __shfl_xor_sync(kFull, added, 2);
        total = total * correction + added;
        largest = newLargest;
        __syncwarp();  // the four threads of a query sit in one warp

#pragma unroll
        for (int n = 0; n < kDimsPerThread; ++n) {
            float acc = sum[n] * correction;
            for (int j = 0; j < kTile; ++j) acc += weight[local][j] * sv[j][part + kParts * n];
            sum[n] = acc;
        }
        __syncthreads();
    }

    if (query < length) {
        const float inverse = 1.0f / total;
#pragma unroll
        for (int n = 0; n < kDimsPerThread; ++n) {
            out[head + query * kDim + part + kParts * n] = sum[n] * inverse;
        }
    }
}

static void check(cudaError_t status, int line) {
    if (status != cudaSuccess) {
        fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
        exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

static void readExactly(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(target), bytes);
    if (!in || in.peek() != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
}

static float* loadToDevice(const char* path, size_t count) {
    std::vector<float> host(count);
    readExactly(path, host.data(), count * sizeof(float));
    float* device = nullptr;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    int sizes[2];
    readExactly("data/sizes.bin", sizes, sizeof(sizes));
    const int heads = sizes[0], length = sizes[1];
    if (heads < 1 || heads > kMaxHeads || length < 1 || length > kMaxLength) {
        fprintf(stderr, "data/sizes.bin: %d heads of length %d are not supported\n", heads, length);
        return 1;
    }
    const size_t count = static_cast<size_t>(heads) * length * kDim;
    float* q = loadToDevice("data/q.bin", count);
    float* k = loadToDevice("data/k.bin", count);
    float* v = loadToDevice("data/v.bin", count);
    float* out = nullptr;
    CHECK(cudaMalloc(&out, count * sizeof(float)));

    dim3 grid((length + kTile - 1) / kTile, heads);
    causalAttention<<<grid, kThreads>>>(q, k, v, out, length);
    CHECK(cudaGetLastError());

    std::vector<float> host(count);
    CHECK(cudaMemcpy(host.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* p : {q, k, v, out}) CHECK(cudaFree(p));

    std::ofstream file("data/out.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float));
    file.close();
    if (!file) {
        fprintf(stderr, "data/out.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
