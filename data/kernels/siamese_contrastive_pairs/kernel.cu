#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(1);                                                                 \
        }                                                                                 \
    } while (0)

constexpr int kThreads = 256;
constexpr float kMargin = 1.0f;

__global__ void pairLoss(const float4* __restrict__ embeddings, const int2* __restrict__ pairIndex,
                         const uint8_t* __restrict__ same, float* __restrict__ loss, int vectors, int pairs) {
    const int pair = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (pair >= pairs) return;  // whole warps leave together

    const int2 rows = pairIndex[pair];
    const float4* a = embeddings + static_cast<size_t>(rows.x) * vectors;
    const float4* b = embeddings + static_cast<size_t>(rows.y) * vectors;
    float sum = 0.0f;
    for (int v = lane; v < vectors; v += 32) {
        const float4 p = a[v], q = b[v];
        const float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, dw = p.w - q.w;
        sum = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, fmaf(dw, dw, sum))));
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) {
        if (!same[pair]) {
            const float gap = fmaxf(0.0f, kMargin - sqrtf(sum));
            sum = gap * gap;
        }
        loss[pair] = 0.5f * sum;
    }
}

template <typename T>
std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, count);
        std::exit(1);
    }
    std::fclose(file);
    return values;
}

template <typename T>
T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const auto sizes = load<int32_t>("data/sizes.bin", 3);
    const int items = sizes[0], width = sizes[1], pairs = sizes[2];
    if (items < 1 || items > 1000000 || width < 4 || width > 1024 || width % 4 || pairs < 1 || pairs > 1000000) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const auto embeddings = load<float>("data/embeddings.bin", static_cast<size_t>(items) * width);
    const auto pairIndex = load<int32_t>("data/pair_index.bin", 2 * static_cast<size_t>(pairs));
    const auto same = load<uint8_t>("data/same.bin", pairs);
    for (int32_t row : pairIndex) {
        if (row < 0 || row >= items) {
            std::fprintf(stderr, "data/pair_index.bin: no item %d\n", row);
            return 1;
        }
    }

    float* dEmbeddings = upload(embeddings);
    int32_t* dPairs = upload(pairIndex);
    uint8_t* dSame = upload(same);
    float* dLoss = nullptr;
    CHECK(cudaMalloc(&dLoss, pairs * sizeof(float)));
    const int perBlock = kThreads / 32;
    pairLoss<<<(pairs + perBlock - 1) / perBlock, kThreads>>>(reinterpret_cast<const float4*>(dEmbeddings),
                                                              reinterpret_cast<const int2*>(dPairs), dSame, dLoss,
                                                              width / 4, pairs);
    CHECK(cudaGetLastError());
    std::vector<float> loss(pairs);
    CHECK(cudaMemcpy(loss.data(), dLoss, pairs * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dEmbeddings));
    CHECK(cudaFree(dPairs));
    CHECK(cudaFree(dSame));
    CHECK(cudaFree(dLoss));

    FILE* out = std::fopen("data/loss.bin", "wb");
    if (!out || std::fwrite(loss.data(), sizeof(float), loss.size(), out) != loss.size() || std::fclose(out)) {
        std::fprintf(stderr, "data/loss.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
