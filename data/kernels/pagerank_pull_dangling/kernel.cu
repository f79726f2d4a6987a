#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
    if (cudaError_t error_ = (call); error_ != cudaSuccess) {                      \
        std::fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(error_));    \
        std::exit(2);                                                              \
    }

constexpr int kThreads = 256;
constexpr unsigned kFull = 0xffffffffu;

__global__ void countOutgoing(const int* __restrict__ sources, int* outgoing, int edges) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e < edges) atomicAdd(&outgoing[sources[e]], 1);
}

__global__ void makeShares(const float* __restrict__ rank, const int* __restrict__ outgoing, float* __restrict__ share,
                           double* dangling, int vertices) {
    const int u = blockIdx.x * kThreads + threadIdx.x;
    double lost = 0.0;
    if (u < vertices) {
        const int degree = outgoing[u];
        share[u] = degree > 0 ? rank[u] / degree : 0.0f;
        if (degree == 0) lost = rank[u];
    }
    for (int step = 16; step > 0; step /= 2) lost += __shfl_down_sync(kFull, lost, step);
    if (threadIdx.x % 32 == 0 && lost != 0.0) atomicAdd(dangling, lost);
}

__global__ void gatherShares(const int* __restrict__ rowPtr, const int* __restrict__ sources,
                             const float* __restrict__ share, const double* dangling, float* __restrict__ rank,
                             int vertices) {
    const int v = (blockIdx.x * kThreads + threadIdx.x) / 32;
    if (v >= vertices) return;
    float sum = 0.0f;
    for (int e = rowPtr[v] + threadIdx.x % 32; e < rowPtr[v + 1]; e += 32) sum += share[sources[e]];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kFull, sum, step);
    if (threadIdx.x % 32 == 0) {
        rank[v] = static_cast<float>((0.15 + 0.85 * *dangling) / vertices) + 0.85f * sum;
    }
}

static void fail(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(1);
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file) fail(path);
    const size_t got = std::fread(values.data(), sizeof(int), count, file);
    if (got != count || std::fgetc(file) != EOF) fail(path);
    std::fclose(file);
    return values;
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 3);
    const int vertices = sizes[0], edges = sizes[1], iterations = sizes[2];
    if (vertices < 1 || vertices > 2000000 || edges < 1 || edges > 8000000) fail("sizes.bin: graph out of range");
    if (iterations < 1 || iterations > 100) fail("sizes.bin: iterations out of range");
    const std::vector<int> rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const std::vector<int> sources = readInts("data/sources.bin", edges);
    if (rowPtr.front() != 0 || rowPtr.back() != edges) fail("row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        if (rowPtr[v + 1] < rowPtr[v]) fail("row_ptr.bin: not ascending");
    }
    for (int u : sources) {
        if (u < 0 || u >= vertices) fail("sources.bin: no such vertex");
    }

    int *dRowPtr, *dSources, *dOutgoing;
    float *dRank, *dShare;
    double* dDangling;
    CHECK(cudaMalloc(&dRowPtr, rowPtr.size() * sizeof(int)));
    CHECK(cudaMalloc(&dSources, edges * sizeof(int)));
    CHECK(cudaMalloc(&dOutgoing, vertices * sizeof(int)));
    CHECK(cudaMalloc(&dRank, vertices * sizeof(float)));
    CHECK(cudaMalloc(&dShare, vertices * sizeof(float)));
    CHECK(cudaMalloc(&dDangling, sizeof(double)));
    CHECK(cudaMemcpy(dRowPtr, rowPtr.data(), rowPtr.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dSources, sources.data(), edges * sizeof(int), cudaMemcpyHostToDevice));
    std::vector<float> rank(vertices, 1.0f / vertices);
    CHECK(cudaMemcpy(dRank, rank.data(), vertices * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dOutgoing, 0, vertices * sizeof(int)));

    countOutgoing<<<(edges + kThreads - 1) / kThreads, kThreads>>>(dSources, dOutgoing, edges);
    CHECK(cudaGetLastError());
    const int warps = kThreads / 32;
    for (int i = 0; i < iterations; ++i) {
        CHECK(cudaMemsetAsync(dDangling, 0, sizeof(double)));
        makeShares<<<(vertices + kThreads - 1) / kThreads, kThreads>>>(dRank, dOutgoing, dShare, dDangling, vertices);
        CHECK(cudaGetLastError());
        gatherShares<<<(vertices + warps - 1) / warps, kThreads>>>(dRowPtr, dSources, dShare, dDangling, dRank,
                                                                   vertices);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(rank.data(), dRank, vertices * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dRowPtr));
    CHECK(cudaFree(dSources));
    CHECK(cudaFree(dOutgoing));
    CHECK(cudaFree(dRank));
    CHECK(cudaFree(dShare));
    CHECK(cudaFree(dDangling));

    std::FILE* out = std::fopen("data/rank.bin", "wb");
    if (!out || std::fwrite(rank.data(), sizeof(float), rank.size(), out) != rank.size()) fail("data/rank.bin");
    if (std::fclose(out) != 0) fail("data/rank.bin");
    return 0;
}
