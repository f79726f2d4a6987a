#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_CHAINS = 65535, MAX_MASSES = 1024, MAX_STEPS = 2000;
constexpr int WARP = 32;
constexpr float TIME_STEP = 0.05f;
constexpr float CUBIC = 0.25f;  // strength of the anharmonic part

__device__ __forceinline__ float tension(float stretch) { return stretch + CUBIC * stretch * stretch; }

__device__ __forceinline__ float springEnergy(float stretch) {
    return stretch * stretch * (0.5f + CUBIC / 3.0f * stretch);
}

// The sum over the block in thread 0; blockDim.x is a multiple of the warp size.
__device__ float blockSum(float value) {
    __shared__ float warpSums[WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int offset = WARP / 2; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (lane == 0) warpSums[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / WARP ? warpSums[threadIdx.x] : 0.0f;
    if (warp == 0) {
        for (int offset = WARP / 2; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

// One block carries one chain through all steps; the walls are the first and the last entry of `u`.
__global__ void simulate(float* displacement, float* velocity, float* energy, int masses, int steps) {
    __shared__ float u[MAX_MASSES + 2];
    const int i = threadIdx.x + 1;
    const bool moves = i <= masses;
    const size_t own = static_cast<size_t>(blockIdx.x) * masses + threadIdx.x;

    float v = moves ? velocity[own] : 0.0f;
    if (moves) u[i] = displacement[own];
    if (threadIdx.x == 0) u[0] = u[masses + 1] = 0.0f;
    __syncthreads();

    for (int step = 0; step < steps; ++step) {
        if (moves) v += TIME_STEP * (tension(u[i + 1] - u[i]) - tension(u[i] - u[i - 1]));
        __syncthreads();  // all forces are known before anything moves
        if (moves) u[i] += TIME_STEP * v;
        __syncthreads();
    }

    float mine = 0.0f;
    if (moves) {
        mine = 0.5f * v * v + springEnergy(u[i] - u[i - 1]);
        if (i == masses) mine += springEnergy(u[i + 1] - u[i]);
        displacement[own] = u[i];
        velocity[own] = v;
    }
    const float total = blockSum(mine);
    if (threadIdx.x == 0) energy[blockIdx.x] = total;
}

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t error_ = (call);                                                      \
        if (error_ != cudaSuccess) {                                                      \
            fprintf(stderr, "CUDA, line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    const bool exact = file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!exact) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    return values;
}

template <typename T>
static void writeArray(const char* path, const std::vector<T>& values) {
    FILE* file = fopen(path, "wb");
    const bool written = file && fwrite(values.data(), sizeof(T), values.size(), file) == values.size();
    if (!file || fclose(file) != 0 || !written) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 3);
    const int chains = sizes[0], masses = sizes[1], steps = sizes[2];
    if (chains < 1 || chains > MAX_CHAINS || masses < 1 || masses > MAX_MASSES || steps < 1 || steps > MAX_STEPS) {
        fprintf(stderr, "data/sizes.bin: %d chains, %d masses, %d steps: out of range\n", chains, masses, steps);
        return 1;
    }
    const size_t count = static_cast<size_t>(chains) * masses;
    std::vector<float> displacement = readArray<float>("data/displacement.bin", count);
    std::vector<float> velocity = readArray<float>("data/velocity.bin", count);
    std::vector<float> energy(chains);
    const size_t bytes = count * sizeof(float);

    float *dDisplacement, *dVelocity, *dEnergy;
    CUDA_CHECK(cudaMalloc(&dDisplacement, bytes));
    CUDA_CHECK(cudaMalloc(&dVelocity, bytes));
    CUDA_CHECK(cudaMalloc(&dEnergy, chains * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dDisplacement, displacement.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dVelocity, velocity.data(), bytes, cudaMemcpyHostToDevice));

    const int threads = (masses + WARP - 1) / WARP * WARP;
    simulate<<<chains, threads>>>(dDisplacement, dVelocity, dEnergy, masses, steps);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(displacement.data(), dDisplacement, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(velocity.data(), dVelocity, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(energy.data(), dEnergy, chains * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* pointer : {dDisplacement, dVelocity, dEnergy}) CUDA_CHECK(cudaFree(pointer));
    writeArray("data/displacement_out.bin", displacement);
    writeArray("data/velocity_out.bin", velocity);
    writeArray("data/energy.bin", energy);
    return 0;
}
