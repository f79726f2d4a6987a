#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxRings = 128, kMinColumns = 11, kMaxColumns = 65536;
constexpr int kThreads = 128, kPerThread = 4, kSegment = kThreads * kPerThread;
constexpr int kReach = 5;

__global__ void ringCurvature(const float* __restrict__ points, float* __restrict__ curvature, int columns) {
    __shared__ float x[kSegment + 2 * kReach], y[kSegment + 2 * kReach], z[kSegment + 2 * kReach];
    const int first = blockIdx.x * kSegment;
    const size_t ring = static_cast<size_t>(blockIdx.y) * columns;
    for (int s = threadIdx.x; s < kSegment + 2 * kReach; s += kThreads) {
        const int column = (first + s - kReach + columns) % columns;
        const float* p = points + 3 * (ring + column);
        x[s] = p[0];
        y[s] = p[1];
        z[s] = p[2];
    }
    __syncthreads();
    for (int k = 0; k < kPerThread; ++k) {
        const int own = threadIdx.x + k * kThreads, s = own + kReach;
        if (first + own >= columns) return;
        float dx = 0.0f, dy = 0.0f, dz = 0.0f;
#pragma unroll
        for (int j = 1; j <= kReach; ++j) {
            dx += (x[s + j] - x[s]) + (x[s - j] - x[s]);
            dy += (y[s + j] - y[s]) + (y[s - j] - y[s]);
            dz += (z[s + j] - z[s]) + (z[s - j] - z[s]);
        }
        const float square = x[s] * x[s] + y[s] * y[s] + z[s] * z[s];
        curvature[ring + first + own] = (dx * dx + dy * dy + dz * dz) / (100.0f * square);
    }
}

static void fail(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(what, cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) fail(path, "cannot be opened");
    if (in.tellg() != bytes) fail(path, "has the wrong length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(data), bytes)) fail(path, "cannot be read");
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int rings = sizes[0], columns = sizes[1];
    if (rings < 1 || rings > kMaxRings || columns < kMinColumns || columns > kMaxColumns) {
        fail("data/sizes.bin", "rings or columns out of range");
    }
    const size_t count = static_cast<size_t>(rings) * columns;
    std::vector<float> points(3 * count), curvature(count);
    readFile("data/points.bin", points.data(), points.size() * sizeof(float));

    float *dPoints = nullptr, *dCurvature = nullptr;
    cudaStream_t stream;
    check(cudaStreamCreate(&stream), "stream");
    check(cudaMallocAsync(&dPoints, points.size() * sizeof(float), stream), "allocate");
    check(cudaMallocAsync(&dCurvature, count * sizeof(float), stream), "allocate");
    const size_t pointBytes = points.size() * sizeof(float);
    check(cudaMemcpyAsync(dPoints, points.data(), pointBytes, cudaMemcpyHostToDevice, stream), "in");
    const dim3 grid((columns + kSegment - 1) / kSegment, rings);
    ringCurvature<<<grid, kThreads, 0, stream>>>(dPoints, dCurvature, columns);
    check(cudaGetLastError(), "launch");
    const size_t resultBytes = count * sizeof(float);
    check(cudaMemcpyAsync(curvature.data(), dCurvature, resultBytes, cudaMemcpyDeviceToHost, stream), "out");
    check(cudaFreeAsync(dPoints, stream), "free");
    check(cudaFreeAsync(dCurvature, stream), "free");
    check(cudaStreamSynchronize(stream), "synchronise");
    check(cudaStreamDestroy(stream), "stream");

    std::ofstream out("data/curvature.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(curvature.data()), count * sizeof(float));
    out.close();
    if (!out) fail("data/curvature.bin", "cannot be written");
    return EXIT_SUCCESS;
}
