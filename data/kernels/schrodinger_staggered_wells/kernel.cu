#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_POINTS = 1024;
constexpr float STEP = 0.25f;

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "CUDA in line %d: %s\n", __LINE__, cudaGetErrorString(e));  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

template <typename T>
static std::vector<T> input(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

static float* onDevice(const std::vector<float>& values) {
    float* device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(float)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void output(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(float), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: not written\n", path);
        exit(1);
    }
}

// The Hamiltonian of one component at an inner point.
__device__ __forceinline__ float energy(const float* f, float v, int i) {
    return -0.5f * (f[i + 1] - 2.0f * f[i] + f[i - 1]) + v * f[i];
}

// One block per system, one thread per point.
__global__ void evolve(float* psi, const float* __restrict__ potential, float* __restrict__ norm, int points,
                       int steps) {
    __shared__ float re[MAX_POINTS], im[MAX_POINTS], sums[32];
    const int i = threadIdx.x;
    float* own = psi + static_cast<size_t>(blockIdx.x) * 2 * points;
    const bool inner = i > 0 && i < points - 1;
    const float v = i < points ? potential[static_cast<size_t>(blockIdx.x) * points + i] : 0.0f;
    if (i < points) {
        re[i] = own[i];
        im[i] = own[points + i];
    }
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        if (inner) re[i] += STEP * energy(im, v, i);
        __syncthreads();
        if (inner) im[i] -= STEP * energy(re, v, i);
        __syncthreads();
    }
    float sum = 0.0f;
    if (i < points) {
        own[i] = re[i];
        own[points + i] = im[i];
        sum = re[i] * re[i] + im[i] * im[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (i % 32 == 0) sums[i / 32] = sum;
    __syncthreads();
    if (i == 0) {
        float total = 0.0f;
        for (unsigned w = 0; w < blockDim.x / 32; ++w) total += sums[w];
        norm[blockIdx.x] = total;
    }
}

int main() {
    const auto sizes = input<int>("data/sizes.bin", 3);
    const int systems = sizes[0], points = sizes[1], steps = sizes[2];
    if (systems < 1 || systems > 65535 || points < 3 || points > MAX_POINTS || steps < 1 || steps > 2000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = static_cast<size_t>(systems) * points;
    float* psi = onDevice(input<float>("data/psi.bin", 2 * count));
    float* potential = onDevice(input<float>("data/potential.bin", count));
    float* norm;
    CHECK(cudaMalloc(&norm, systems * sizeof(float)));
    evolve<<<systems, (points + 31) / 32 * 32>>>(psi, potential, norm, points, steps);
    CHECK(cudaGetLastError());
    output("data/psi_out.bin", psi, 2 * count);
    output("data/norm.bin", norm, systems);
    for (float* pointer : {psi, potential, norm}) CHECK(cudaFree(pointer));
    return 0;
}
