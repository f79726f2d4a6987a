#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTargets = 64, kRows = 4, kPredictions = 16;

__device__ float areaOf(float4 b) { return (b.z - b.x) * (b.w - b.y); }

__device__ float giouCost(float4 p, float4 t) {
    const float width = fmaxf(0.0f, fminf(p.z, t.z) - fmaxf(p.x, t.x));
    const float height = fmaxf(0.0f, fminf(p.w, t.w) - fmaxf(p.y, t.y));
    const float overlap = width * height;
    const float whole = areaOf(p) + areaOf(t) - overlap;
    const float hull = (fmaxf(p.z, t.z) - fminf(p.x, t.x)) * (fmaxf(p.w, t.w) - fminf(p.y, t.y));
    float cost = 1.0f;
    if (whole > 0.0f) cost -= overlap / whole;
    if (hull > 0.0f) cost += (hull - whole) / hull;
    return cost;
}

__global__ void costMatrix(const float4* __restrict__ predicted, const float4* __restrict__ target,
                           float* __restrict__ cost, int predictions, int targets) {
    __shared__ float4 targetTile[kTargets], predictedTile[kPredictions];
    const int j = blockIdx.x * kTargets + threadIdx.x;
    const int firstRow = blockIdx.y * kPredictions;
    const int linear = threadIdx.y * kTargets + threadIdx.x;
    if (threadIdx.y == 0 && j < targets) targetTile[threadIdx.x] = target[j];
    if (linear >= kTargets && linear < kTargets + kPredictions) {  // the second row of threads
        const int i = firstRow + linear - kTargets;
        if (i < predictions) predictedTile[linear - kTargets] = predicted[i];
    }
    __syncthreads();
    if (j >= targets) return;
    const float4 mine = targetTile[threadIdx.x];
    for (int r = threadIdx.y; r < kPredictions && firstRow + r < predictions; r += kRows) {
        cost[static_cast<size_t>(firstRow + r) * targets + j] = giouCost(predictedTile[r], mine);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static std::vector<float> readFloats(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(float)) throw std::runtime_error(path + ": size");
    std::vector<float> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(float));
    return values;
}

// The boxes of a file on the device; corners have to be in order.
static float4* loadBoxes(const std::string& path, int count) {
    const auto corners = readFloats(path, 4 * static_cast<size_t>(count));
    for (size_t b = 0; b < corners.size(); b += 4) {
        if (!(corners[b] <= corners[b + 2] && corners[b + 1] <= corners[b + 3])) {
            throw std::runtime_error(path + ": a box with its corners out of order");
        }
    }
    float4* boxes = nullptr;
    check(cudaMalloc(&boxes, count * sizeof(float4)));
    check(cudaMemcpy(boxes, corners.data(), count * sizeof(float4), cudaMemcpyHostToDevice));
    return boxes;
}

int main() {
    try {
        int32_t sizes[2];
        std::ifstream in("data/sizes.bin", std::ios::binary);
        if (!in.read(reinterpret_cast<char*>(sizes), sizeof sizes) || in.peek() != EOF) {
            throw std::runtime_error("data/sizes.bin: expected two values");
        }
        const int predictions = sizes[0], targets = sizes[1];
        if (predictions < 1 || predictions > 16384 || targets < 1 || targets > 16384) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        float4* predicted = loadBoxes("data/predicted.bin", predictions);
        float4* target = loadBoxes("data/target.bin", targets);
        float* cost = nullptr;
        std::vector<float> host(static_cast<size_t>(predictions) * targets);
        check(cudaMalloc(&cost, host.size() * sizeof(float)));
        const dim3 grid((targets + kTargets - 1) / kTargets, (predictions + kPredictions - 1) / kPredictions);
        costMatrix<<<grid, dim3(kTargets, kRows)>>>(predicted, target, cost, predictions, targets);
        check(cudaGetLastError());
        check(cudaMemcpy(host.data(), cost, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
        check(cudaFree(predicted));
        check(cudaFree(target));
        check(cudaFree(cost));

        std::ofstream out("data/cost.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), host.size() * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error("data/cost.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
