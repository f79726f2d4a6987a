#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxSide = 16384, kMaxBlock = 256, kMaxProcesses = 16;
constexpr int kThreadsX = 64, kThreadsY = 4;
constexpr int kMaxBlocksY = 256;

struct Distribution {
    int rows, cols, block, p, q;

    // The extent of a local array when `processes` share `extent` elements: whole rounds of pieces.
    __host__ __device__ int localExtent(int extent, int processes) const {
        const int round = block * processes;
        return (extent + round - 1) / round * block;
    }
    __device__ int toGlobal(int local, int process, int processes) const {
        return (local / block * processes + process) * block + local % block;
    }
};

__global__ void distribute(const double* __restrict__ matrix, double* __restrict__ locals, Distribution d) {
    const int localRows = d.localExtent(d.rows, d.p), localCols = d.localExtent(d.cols, d.q);
    const int c = blockIdx.x * kThreadsX + threadIdx.x;
    if (c >= localCols) return;
    const int processRow = blockIdx.z / d.q, processCol = blockIdx.z % d.q;
    const int j = d.toGlobal(c, processCol, d.q);
    double* target = locals + static_cast<size_t>(blockIdx.z) * localRows * localCols + c;

    for (int r = blockIdx.y * kThreadsY + threadIdx.y; r < localRows; r += gridDim.y * kThreadsY) {
        const int i = d.toGlobal(r, processRow, d.p);
        const bool inside = i < d.rows && j < d.cols;
        target[static_cast<size_t>(r) * localCols] = inside ? matrix[static_cast<size_t>(i) * d.cols + j] : 0.0;
    }
}

static void check(cudaError_t status, int line) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
        std::exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::streamsize bytes = count * sizeof(T);
    if (!in || in.tellg() != bytes || !in.seekg(0) || !in.read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: not a readable file of %zu values\n", path, count);
        std::exit(1);
    }
    return values;
}

static bool within(int value, int largest) { return value >= 1 && value <= largest; }

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 5);
    const Distribution d = {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]};
    if (!within(d.rows, kMaxSide) || !within(d.cols, kMaxSide) || !within(d.block, kMaxBlock) ||
        !within(d.p, kMaxProcesses) || !within(d.q, kMaxProcesses)) {
        std::fprintf(stderr, "data/sizes.bin: an entry is out of range\n");
        return 1;
    }
    const std::vector<double> matrix = readArray<double>("data/matrix.bin", static_cast<size_t>(d.rows) * d.cols);
    const int localRows = d.localExtent(d.rows, d.p), localCols = d.localExtent(d.cols, d.q);
    std::vector<double> locals(static_cast<size_t>(d.p) * d.q * localRows * localCols);

    double *dMatrix, *dLocals;
    CHECK(cudaMalloc(&dMatrix, matrix.size() * sizeof(double)));
    CHECK(cudaMalloc(&dLocals, locals.size() * sizeof(double)));
    CHECK(cudaMemcpy(dMatrix, matrix.data(), matrix.size() * sizeof(double), cudaMemcpyHostToDevice));

    const int blocksX = (localCols + kThreadsX - 1) / kThreadsX;
    const int blocksY = std::min((localRows + kThreadsY - 1) / kThreadsY, kMaxBlocksY);
    distribute<<<dim3(blocksX, blocksY, d.p * d.q), dim3(kThreadsX, kThreadsY)>>>(dMatrix, dLocals, d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(locals.data(), dLocals, locals.size() * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dMatrix));
    CHECK(cudaFree(dLocals));

    std::ofstream out("data/locals.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(locals.data()), locals.size() * sizeof(double));
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/locals.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
