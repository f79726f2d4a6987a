#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t err = (call);                                                          \
        if (err != cudaSuccess) {                                                          \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(err)); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

constexpr int COLUMNS = 32;  // per block
constexpr int WARPS = 8;
constexpr int SLAB = 256;    // rows per block
constexpr int MAX_SIZE = 16384;

__global__ void slabEnergy(const float* __restrict__ x, double* __restrict__ partial, int rows, int cols) {
    __shared__ double sums[WARPS][COLUMNS];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * COLUMNS + tx;
    const int begin = blockIdx.y * SLAB;
    const int end = min(begin + SLAB, rows);

    double sum = 0.0;
    if (col < cols) {
        for (int row = begin + ty; row < end; row += WARPS) {
            const double value = x[static_cast<size_t>(row) * cols + col];
            sum += value * value;
        }
    }
    sums[ty][tx] = sum;
    __syncthreads();

    if (ty == 0 && col < cols) {
        for (int w = 1; w < WARPS; ++w) {
            sum += sums[w][tx];
        }
        partial[static_cast<size_t>(blockIdx.y) * cols + col] = sum;
    }
}

__global__ void addSlabs(const double* __restrict__ partial, double* __restrict__ energy, int slabs, int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    double sum = 0.0;
    for (int slab = 0; slab < slabs; ++slab) {
        sum += partial[static_cast<size_t>(slab) * cols + col];
    }
    energy[col] = sum;
}

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    if (!in || in.tellg() != bytes || !in.seekg(0) || !in.read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: missing or not %zu values\n", path, count);
        exit(1);
    }
    return values;
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > MAX_SIZE || cols < 1 || cols > MAX_SIZE) {
        fprintf(stderr, "data/sizes.bin: %d x %d, each size must be in 1..%d\n", rows, cols, MAX_SIZE);
        return 1;
    }
    const std::vector<float> x = readArray<float>("data/x.bin", static_cast<size_t>(rows) * cols);
    std::vector<double> energy(cols);

    const dim3 block(COLUMNS, WARPS);
    const dim3 grid((cols + COLUMNS - 1) / COLUMNS, (rows + SLAB - 1) / SLAB);
    float* dX = nullptr;
    double *dPartial = nullptr, *dEnergy = nullptr;
    CUDA_CHECK(cudaMalloc(&dX, x.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dPartial, static_cast<size_t>(grid.y) * cols * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&dEnergy, cols * sizeof(double)));
    CUDA_CHECK(cudaMemcpy(dX, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));

    slabEnergy<<<grid, block>>>(dX, dPartial, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    addSlabs<<<(cols + 255) / 256, 256>>>(dPartial, dEnergy, grid.y, cols);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(energy.data(), dEnergy, cols * sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dX));
    CUDA_CHECK(cudaFree(dPartial));
    CUDA_CHECK(cudaFree(dEnergy));

    std::ofstream out("data/energy.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(energy.data()), cols * sizeof(double));
    out.close();
    if (!out) {
        fprintf(stderr, "data/energy.bin: write failed\n");
        return 1;
    }
    return 0;
}
