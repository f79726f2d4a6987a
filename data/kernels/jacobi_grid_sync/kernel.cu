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

constexpr int H = 257, W = 301, SWEEPS = 60, THREADS = 256;
constexpr int INNER_W = W - 2;
constexpr int INTERIOR = (H - 2) * INNER_W;

__device__ int interiorIndex(int p) { return (p / INNER_W + 1) * W + p % INNER_W + 1; }

__global__ void jacobi(float* u, float* v, const float* rhs, int sweeps) {
    cg::grid_group grid = cg::this_grid();
    float* from = u;
    float* to = v;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < INTERIOR; p += gridDim.x * blockDim.x) {
            int k = interiorIndex(p);
            to[k] = 0.25f * (from[k - W] + from[k + W] + from[k - 1] + from[k + 1] + rhs[k]);
        }
        grid.sync();  // every write of this sweep is visible before the next one reads
        float* swap = from;
        from = to;
        to = swap;
    }
}

__global__ void squaredResidual(const float* u, const float* rhs, double* total) {
    __shared__ double sums[THREADS];
    double sum = 0.0;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < INTERIOR; p += gridDim.x * blockDim.x) {
        int k = interiorIndex(p);
        double around = (double)u[k - W] + u[k + W] + u[k - 1] + u[k + 1];
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

static std::vector<float> readGrid(const char* path) {
    std::vector<float> grid(H * W);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(grid.data()), grid.size() * sizeof(float));
    if (!in || in.get() != EOF) {
        fprintf(stderr, "%s: expected %d x %d floats\n", path, H, W);
        exit(1);
    }
    return grid;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
    out.close();
    return static_cast<bool>(out);
}

int main() {
    std::vector<float> u0 = readGrid("data/u0.bin"), rhs = readGrid("data/rhs.bin");
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
    const int needed = (INTERIOR + THREADS - 1) / THREADS;
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
    void* arguments[] = {&dU, &dV, &dRhs, &sweeps};
    CUDA_CHECK(cudaLaunchCooperativeKernel((const void*)jacobi, dim3(blocks), dim3(THREADS), arguments, 0, 0));
    squaredResidual<<<64, THREADS>>>(dU, dRhs, dTotal);
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
