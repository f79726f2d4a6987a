#include <cuda_runtime.h>
#include <math_constants.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMinPoints = 33, kMaxPoints = 32768, kMaxNeighbors = 32;
constexpr int kThreads = 128;

template <int Length>
__global__ void meanDistances(const float* __restrict__ points, float* __restrict__ scores, int n, int k) {
    __shared__ float4 tile[kThreads];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int own = 3 * min(i, n - 1);
    const float x = points[own], y = points[own + 1], z = points[own + 2];
    float list[Length];
#pragma unroll
    for (int s = 0; s < Length; ++s) list[s] = CUDART_INF_F;

    for (int begin = 0; begin < n; begin += kThreads) {
        const int j = begin + threadIdx.x;
        __syncthreads();
        if (j < n) tile[threadIdx.x] = make_float4(points[3 * j], points[3 * j + 1], points[3 * j + 2], 0.0f);
        __syncthreads();
        const int inside = min(kThreads, n - begin);
        for (int t = 0; t < inside; ++t) {
            const float dx = tile[t].x - x, dy = tile[t].y - y, dz = tile[t].z - z;
            const float square = dx * dx + dy * dy + dz * dz;
            if (begin + t == i || square >= list[Length - 1]) continue;
            list[Length - 1] = square;
#pragma unroll
            for (int s = Length - 1; s > 0; --s) {
                const float low = fminf(list[s - 1], list[s]);
                list[s] = fmaxf(list[s - 1], list[s]);
                list[s - 1] = low;
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int s = 0; s < Length; ++s) {
        if (s < k) sum += sqrtf(list[s]);
    }
    if (i < n) scores[i] = sum / k;
}

static void check(cudaError_t status, const char* where) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(where) + ": " + cudaGetErrorString(status));
}

static void read(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::string name = path;
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(name + ": wrong length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) throw std::runtime_error(name + ": not readable");
}

static void run() {
    int sizes[2];
    read("data/sizes.bin", sizes, sizeof(sizes));
    const int n = sizes[0], k = sizes[1];
    if (n < kMinPoints || n > kMaxPoints || k < 1 || k > kMaxNeighbors) {
        throw std::runtime_error("data/sizes.bin: n or k is out of range");
    }
    std::vector<float> points(3 * n), scores(n);
    read("data/points.bin", points.data(), points.size() * sizeof(float));

    float *dPoints = nullptr, *dScores = nullptr;
    check(cudaMalloc(&dPoints, points.size() * sizeof(float)), "allocate points");
    check(cudaMalloc(&dScores, scores.size() * sizeof(float)), "allocate scores");
    check(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice), "copy points");
    const int blocks = (n + kThreads - 1) / kThreads;
    if (k <= 4) {
        meanDistances<4><<<blocks, kThreads>>>(dPoints, dScores, n, k);
    } else if (k <= 8) {
        meanDistances<8><<<blocks, kThreads>>>(dPoints, dScores, n, k);
    } else if (k <= 16) {
        meanDistances<16><<<blocks, kThreads>>>(dPoints, dScores, n, k);
    } else {
        meanDistances<32><<<blocks, kThreads>>>(dPoints, dScores, n, k);
    }
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(scores.data(), dScores, scores.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy scores");
    check(cudaFree(dPoints), "free points");
    check(cudaFree(dScores), "free scores");

    std::ofstream out("data/scores.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(scores.data()), scores.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/scores.bin: not writable");
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
