#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace cg = cooperative_groups;

#define CUDA_CHECK(call)                                                            \
    do {                                                                            \
        cudaError_t status = (call);                                                \
        if (status != cudaSuccess) {                                                \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

constexpr int SWEEPS = 60, THREADS = 256;
constexpr int MIN_SIDE = 3, MAX_SIDE = 8192;

struct Grid {
    int height, width;
    __host__ __device__ int interior() const { return (height - 2) * (width - 2); }
    // Position in the array of interior point number p.
    __device__ int index(int p) const { return (p / (width - 2) + 1) * width + p % (width - 2) + 1; }
};

__global__ void jacobi(float* u, float* v, const float* rhs, Grid g, int sweeps) {
    cg::grid_group grid = cg::this_grid();
    float* from = u;
    float* to = v;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < g.interior(); p += gridDim.x * blockDim.x) {
            int k = g.index(p);
            to[k] = 0.25f * (from[k - g.width] + from[k + g.width] + from[k - 1] + from[k + 1] + rhs[k]);
        }
        grid.sync();  // every write of this sweep is visible before the next one reads
        float* swap = from;
        from = to;
        to = swap;
    }
}

__global__ void squaredResidual(const float* u, const float* rhs, Grid g, double* total) {
    __shared__ double sums[THREADS];
    double sum = 0.0;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < g.interior(); p += gridDim.x * blockDim.x) {
        int k = g.index(p);
        double around = (double)u[k - g.width] + u[k + g.width] + u[k - 1] + u[k + 1];
        double r = around + rhs[k] - 4.0 * u[k];
        sum += r * r;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, sums[0]);
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.get() != EOF) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    return values;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
    out.close();
    return static_cast<bool>(out);
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    for (int size : sizes) {
        if (size < MIN_SIDE || size > MAX_SIDE) {
            fprintf(stderr, "data/sizes.bin: %d is not in %d..%d\n", size, MIN_SIDE, MAX_SIDE);
            return 1;
        }
    }
    Grid grid{sizes[0], sizes[1]};
    const size_t points = static_cast<size_t>(grid.height) * grid.width;
    std::vector<float> u0 = readFile<float>("data/u0.bin", points), rhs = readFile<float>("data/rhs.bin", points);
    const size_t bytes = u0.size() * sizeof(float);

    int device = 0, cooperative = 0, multiprocessors = 0, perMultiprocessor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, jacobi, THREADS, 0));
    if (!cooperative) {
        fprintf(stderr, "the device has no cooperative launch\n");
        return 1;
    }
    const int needed = (grid.interior() + THREADS - 1) / THREADS;
    const int blocks = std::min(needed, multiprocessors * perMultiprocessor);

    float *dU, *dV, *dRhs;
    double* dTotal;
    CUDA_CHECK(cudaMalloc(&dU, bytes));
    CUDA_CHECK(cudaMalloc(&dV, bytes));
    CUDA_CHECK(cudaMalloc(&dRhs, bytes));
    CUDA_CHECK(cudaMalloc(&dTotal, sizeof(double)));
    CUDA_CHECK(cudaMemcpy(dU, u0.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dV, u0.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dRhs, rhs.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(dTotal, 0, sizeof(double)));

    int sweeps = SWEEPS;
    static_assert(SWEEPS % 2 == 0, "the result must end in the first buffer");
    void* arguments[] = {&dU, &dV, &dRhs, &grid, &sweeps};
    CUDA_CHECK(cudaLaunchCooperativeKernel((const void*)jacobi, dim3(blocks), dim3(THREADS), arguments, 0, 0));
    squaredResidual<<<64, THREADS>>>(dU, dRhs, grid, dTotal);
    CUDA_CHECK(cudaGetLastError());

    double residual = 0.0;
    CUDA_CHECK(cudaMemcpy(u0.data(), dU, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&residual, dTotal, sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dU));
    CUDA_CHECK(cudaFree(dV));
    CUDA_CHECK(cudaFree(dRhs));
    CUDA_CHECK(cudaFree(dTotal));
    bool written = writeFile("data/u.bin", u0.data(), bytes);
    written = writeFile("data/residual.bin", &residual, sizeof(double)) && written;
    return written ? 0 : 1;
}
