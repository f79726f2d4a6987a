#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECKED(call) checked((call), #call)

static void checked(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
    std::exit(1);
}

constexpr int kThreads = 128, kFloats = 9;  // 9 is odd: no two lanes of a warp meet in a bank
constexpr double kOxygen = 1.0 / 15.9994, kHydrogen = 1.0 / 1.008;
constexpr double kBond = 0.9572, kSpan = 1.5139;

struct Vector {
    double x, y, z;
};

__device__ Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ void shift(Vector& a, double by, Vector along) {
    a.x += by * along.x;
    a.y += by * along.y;
    a.z += by * along.z;
}

// Puts one distance right to first order, along the old direction of the bond. Returns the multiplier.
__device__ double restore(Vector& a, Vector& b, Vector old, double inverseA, double inverseB, double length) {
    const Vector now = a - b;
    const double g = (length * length - dot(now, now)) / (2.0 * (inverseA + inverseB) * dot(now, old));
    shift(a, g * inverseA, old);
    shift(b, -g * inverseB, old);
    return g;
}

__device__ Vector vectorAt(const float* p) { return {p[0], p[1], p[2]}; }

__device__ void put(float* p, Vector v) {
    p[0] = static_cast<float>(v.x);
    p[1] = static_cast<float>(v.y);
    p[2] = static_cast<float>(v.z);
}

__global__ void __launch_bounds__(kThreads) shake(const float* __restrict__ before, const float* __restrict__ moved,
                                                  float* __restrict__ position, float* __restrict__ multiplier,
                                                  int molecules, int rounds) {
    __shared__ float old[kThreads * kFloats], now[kThreads * kFloats], sums[kThreads * 3];
    const int first = blockIdx.x * kThreads, here = min(kThreads, molecules - first);
    const size_t start = static_cast<size_t>(first) * kFloats;
    for (int k = threadIdx.x; k < here * kFloats; k += kThreads) {
        old[k] = before[start + k];
        now[k] = moved[start + k];
    }
    __syncthreads();
    if (threadIdx.x < here) {
        const float* from = old + threadIdx.x * kFloats;
        float* to = now + threadIdx.x * kFloats;
        const Vector o = vectorAt(from), h = vectorAt(from + 3), i = vectorAt(from + 6);
        const Vector oh = o - h, oi = o - i, hi = h - i;
        Vector a = vectorAt(to), b = vectorAt(to + 3), c = vectorAt(to + 6);
        double g01 = 0.0, g02 = 0.0, g12 = 0.0;
        for (int round = 0; round < rounds; ++round) {
            g01 += restore(a, b, oh, kOxygen, kHydrogen, kBond);
            g02 += restore(a, c, oi, kOxygen, kHydrogen, kBond);
            g12 += restore(b, c, hi, kHydrogen, kHydrogen, kSpan);
        }
        put(to, a);
        put(to + 3, b);
        put(to + 6, c);
        put(sums + threadIdx.x * 3, Vector{g01, g02, g12});
    }
    __syncthreads();
    for (int k = threadIdx.x; k < here * kFloats; k += kThreads) position[start + k] = now[k];
    for (int k = threadIdx.x; k < here * 3; k += kThreads) multiplier[start / 3 + k] = sums[k];
}

template <typename T>
static void readValues(const char* path, std::vector<T>& values) {
    std::FILE* file = std::fopen(path, "rb");
    const bool good = file && std::fread(values.data(), sizeof(T), values.size(), file) == values.size() &&
                      std::fgetc(file) == EOF;
    if (!good) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, values.size());
        std::exit(1);
    }
    std::fclose(file);
}

static void writeValues(const char* path, const std::vector<float>& values) {
    std::FILE* file = std::fopen(path, "wb");
    const size_t written = file ? std::fwrite(values.data(), sizeof(float), values.size(), file) : 0;
    if (written != values.size() || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(1);
    }
}

int main() {
    std::vector<int> sizes(2);
    readValues("data/sizes.bin", sizes);
    const int molecules = sizes[0], rounds = sizes[1];
    if (molecules < 1 || molecules > 1048576 || rounds < 1 || rounds > 64) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<float> before(static_cast<size_t>(molecules) * kFloats), moved(before.size());
    std::vector<float> multiplier(static_cast<size_t>(molecules) * 3);
    readValues("data/before.bin", before);
    readValues("data/moved.bin", moved);
    const size_t bytes = before.size() * sizeof(float), sumBytes = multiplier.size() * sizeof(float);

    float *dBefore, *dMoved, *dPosition, *dMultiplier;
    CHECKED(cudaMalloc(&dBefore, bytes));
    CHECKED(cudaMalloc(&dMoved, bytes));
    CHECKED(cudaMalloc(&dPosition, bytes));
    CHECKED(cudaMalloc(&dMultiplier, sumBytes));
    CHECKED(cudaMemcpy(dBefore, before.data(), bytes, cudaMemcpyHostToDevice));
    CHECKED(cudaMemcpy(dMoved, moved.data(), bytes, cudaMemcpyHostToDevice));
    const int blocks = (molecules + kThreads - 1) / kThreads;
    shake<<<blocks, kThreads>>>(dBefore, dMoved, dPosition, dMultiplier, molecules, rounds);
    CHECKED(cudaGetLastError());
    CHECKED(cudaMemcpy(moved.data(), dPosition, bytes, cudaMemcpyDeviceToHost));
    CHECKED(cudaMemcpy(multiplier.data(), dMultiplier, sumBytes, cudaMemcpyDeviceToHost));
    writeValues("data/position.bin", moved);
    writeValues("data/multiplier.bin", multiplier);
    for (float* pointer : {dBefore, dMoved, dPosition, dMultiplier}) CHECKED(cudaFree(pointer));
    return 0;
}
