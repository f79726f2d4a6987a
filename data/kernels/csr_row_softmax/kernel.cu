#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

constexpr int kMaxRows = 4000000;
constexpr int kMaxEntries = 40000000;
constexpr int kWarpSize = 32;
constexpr int kThreads = 256;
constexpr int kRowsPerBlock = kThreads / kWarpSize;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ float warpMax(float value) {
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, mask));
    return value;
}

__device__ float warpSum(float value) {
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(kAllLanes, value, mask);
    return value;
}

__global__ void rowSoftmax(const int* __restrict__ rowPtr, const float* __restrict__ scores,
                           float* __restrict__ weights, int rows) {
    const int row = blockIdx.x * kRowsPerBlock + threadIdx.x / kWarpSize;
    if (row >= rows) return;
    const int begin = rowPtr[row] + threadIdx.x % kWarpSize;
    const int end = rowPtr[row + 1];
    if (rowPtr[row] == end) return;

    float largest = -INFINITY;
    for (int e = begin; e < end; e += kWarpSize) largest = fmaxf(largest, scores[e]);
    largest = warpMax(largest);

    float sum = 0.0f;
    for (int e = begin; e < end; e += kWarpSize) sum += expf(scores[e] - largest);
    const float inverse = 1.0f / warpSum(sum);

    for (int e = begin; e < end; e += kWarpSize) weights[e] = expf(scores[e] - largest) * inverse;
}

static void fail(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(std::string("CUDA error: ") + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) fail(path + ": missing or wrong length");
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) fail(path + ": unreadable");
    return values;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int rows = sizes[0], entries = sizes[1];
    if (rows < 1 || rows > kMaxRows || entries < 1 || entries > kMaxEntries) fail("data/sizes.bin: out of range");

    const std::vector<int> rowPtr = readFile<int>("data/row_ptr.bin", static_cast<size_t>(rows) + 1);
    const std::vector<float> scores = readFile<float>("data/scores.bin", entries);
    if (rowPtr.front() != 0 || rowPtr.back() != entries) fail("data/row_ptr.bin: must go from 0 to entries");
    for (int r = 0; r < rows; ++r) {
        if (rowPtr[r] > rowPtr[r + 1]) fail("data/row_ptr.bin: decreases after row " + std::to_string(r));
    }

    const size_t pointerBytes = rowPtr.size() * sizeof(int), entryBytes = scores.size() * sizeof(float);
    int* dRowPtr = nullptr;
    float *dScores = nullptr, *dWeights = nullptr;
    check(cudaMalloc(&dRowPtr, pointerBytes));
    check(cudaMalloc(&dScores, entryBytes));
    check(cudaMalloc(&dWeights, entryBytes));
    check(cudaMemcpy(dRowPtr, rowPtr.data(), pointerBytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(dScores, scores.data(), entryBytes, cudaMemcpyHostToDevice));

    rowSoftmax<<<(rows + kRowsPerBlock - 1) / kRowsPerBlock, kThreads>>>(dRowPtr, dScores, dWeights, rows);
    check(cudaGetLastError());

    std::vector<float> weights(entries);
    check(cudaMemcpy(weights.data(), dWeights, entryBytes, cudaMemcpyDeviceToHost));
    check(cudaFree(dRowPtr));
    check(cudaFree(dScores));
    check(cudaFree(dWeights));

    std::ofstream out("data/weights.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(weights.data()), entryBytes);
    out.close();
    if (!out) fail("data/weights.bin: cannot be written");
    return 0;
}
