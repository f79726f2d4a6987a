#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

constexpr int DIM = 128;
constexpr int CHUNK = 256;  // positions per block
constexpr int WARPS = 4;
static_assert(DIM == 32 * 4 && DIM == 32 * WARPS, "a lane owns a float4 and a thread owns a dimension");

__global__ void attendChunk(const float* __restrict__ query, const float* __restrict__ keys,
                            const float* __restrict__ values, float* partMax, float* partSum, float* partAcc,
                            int kvHeads, int group, int positions) {
    __shared__ float warpMax[WARPS], warpSum[WARPS];
    __shared__ float4 warpAcc[WARPS][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int head = blockIdx.y;
    const int kvHead = head / group;
    const float4 q = reinterpret_cast<const float4*>(query + head * DIM)[lane];
    const float scale = rsqrtf(static_cast<float>(DIM));

    float m = -INFINITY, l = 0.0f;
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const int end = min(positions, static_cast<int>(blockIdx.x + 1) * CHUNK);
    for (int p = blockIdx.x * CHUNK + warp; p < end; p += WARPS) {
        const size_t row = (static_cast<size_t>(p) * kvHeads + kvHead) * DIM;
        const float4 k = reinterpret_cast<const float4*>(keys + row)[lane];
        const float4 v = reinterpret_cast<const float4*>(values + row)[lane];
        float s = q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w;
        for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
        s *= scale;

        const float newMax = fmaxf(m, s);
        const float keep = expf(m - newMax);
        const float weight = expf(s - newMax);
        l = l * keep + weight;
        acc.x = acc.x * keep + weight * v.x;
        acc.y = acc.y * keep + weight * v.y;
        acc.z = acc.z * keep + weight * v.z;
        acc.w = acc.w * keep + weight * v.w;
        m = newMax;
    }
    if (lane == 0) {
        warpMax[warp] = m;
        warpSum[warp] = l;
    }
    warpAcc[warp][lane] = acc;
    __syncthreads();

    float joint = warpMax[0];
    for (int w = 1; w < WARPS; ++w) joint = fmaxf(joint, warpMax[w]);
    float sum = 0.0f, value = 0.0f;
    for (int w = 0; w < WARPS; ++w) {
        const float factor = expf(warpMax[w] - joint);
        sum += warpSum[w] * factor;
        value += reinterpret_cast<const float*>(warpAcc[w])[threadIdx.x] * factor;
    }
    const int part = head * gridDim.x + blockIdx.x;
    partAcc[part * DIM + threadIdx.x] = value;
    if (threadIdx.x == 0) {
        partMax[part] = joint;
        partSum[part] = sum;
    }
}

__global__ void combineChunks(const float* __restrict__ partMax, const float* __restrict__ partSum,
                              const float* __restrict__ partAcc, float* __restrict__ context, int chunks) {
    const int head = blockIdx.x, d = threadIdx.x;
    float joint = -INFINITY;
    for (int c = 0; c < chunks; ++c) joint = fmaxf(joint, partMax[head * chunks + c]);
    float sum = 0.0f, value = 0.0f;
    for (int c = 0; c < chunks; ++c) {
        const int part = head * chunks + c;
        const float factor = expf(partMax[part] - joint);
        sum += partSum[part] * factor;
        value += partAcc[part * DIM + d] * factor;
    }
    context[head * DIM + d] = value / sum;
}

#define CHECK(call)                                                       \
    do {                                                                  \
        cudaError_t code = (call);                                        \
        if (code != cudaSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code)); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> host(count);
    FILE* file = fopen(path.c_str(), "rb");
    bool exact = file && fread(host.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!exact) {
        fprintf(stderr, "%s: expected exactly %zu values\n", path.c_str(), count);
        exit(1);
    }
    return host;
}

static float* load(const std::string& path, size_t count) {
    const std::vector<float> host = readFile<float>(path, count);
    float* device;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int kvHeads = sizes[0], group = sizes[1], positions = sizes[2];
    if (kvHeads < 1 || kvHeads > 16 || group < 1 || group > 16 || positions < 1 || positions > 32768) {
        fprintf(stderr, "data/sizes.bin: (%d, %d, %d) is out of range\n", kvHeads, group, positions);
        return 1;
    }
    const int heads = kvHeads * group;
    const int chunks = (positions + CHUNK - 1) / CHUNK;
    const size_t parts = static_cast<size_t>(heads) * chunks;
    const size_t cacheSize = static_cast<size_t>(positions) * kvHeads * DIM;
    float* query = load("data/query.bin", heads * DIM);
    float* keys = load("data/key_cache.bin", cacheSize);
    float* values = load("data/value_cache.bin", cacheSize);
    float *partMax, *partSum, *partAcc, *context;
    CHECK(cudaMalloc(&partMax, parts * sizeof(float)));
    CHECK(cudaMalloc(&partSum, parts * sizeof(float)));
    CHECK(cudaMalloc(&partAcc, parts * DIM * sizeof(float)));
    CHECK(cudaMalloc(&context, heads * DIM * sizeof(float)));

    attendChunk<<<dim3(chunks, heads), 32 * WARPS>>>(query, keys, values, partMax, partSum, partAcc, kvHeads, group,
                                                     positions);
    CHECK(cudaGetLastError());
    combineChunks<<<heads, DIM>>>(partMax, partSum, partAcc, context, chunks);
    CHECK(cudaGetLastError());

    std::vector<float> result(heads * DIM);
    CHECK(cudaMemcpy(result.data(), context, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* p : {query, keys, values, partMax, partSum, partAcc, context}) CHECK(cudaFree(p));

    FILE* out = fopen("data/context.bin", "wb");
    if (!out || fwrite(result.data(), sizeof(float), result.size(), out) != result.size() || fclose(out) != 0) {
        fprintf(stderr, "data/context.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
