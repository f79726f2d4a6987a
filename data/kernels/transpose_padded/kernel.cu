#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

static constexpr int MAX_SIZE = 32768;  // at most 2^30 values: an index fits an int
static constexpr int TILE = 32;
static constexpr int STEP = 8;

__global__ void transposeTiles(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += STEP) {
        if (col < cols && row + k < rows) {
            tile[threadIdx.y + k][threadIdx.x] = in[(row + k) * cols + col];
        }
    }
    __syncthreads();

    int outCol = blockIdx.y * TILE + threadIdx.x;  // a row of the input
    int outRow = blockIdx.x * TILE + threadIdx.y;  // a column of the input
    for (int k = 0; k < TILE; k += STEP) {
        if (outCol < rows && outRow + k < cols) {
            out[(outRow + k) * rows + outCol] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}

static bool ok(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    }
    return status == cudaSuccess;
}

// Fills `values` from a file of exactly that length.
template <typename T>
static bool load(const char* path, std::vector<T>& values) {
    FILE* file = std::fopen(path, "rb");
    if (file == nullptr) {
        std::perror(path);
        return false;
    }
    size_t count = values.size();
    bool complete = std::fread(values.data(), sizeof(T), count, file) == count && std::fgetc(file) == EOF;
    std::fclose(file);
    if (!complete) {
        std::fprintf(stderr, "%s: not %zu bytes\n", path, count * sizeof(T));
    }
    return complete;
}

int main() {
    std::vector<int> sizes(2);
    if (!load("data/sizes.bin", sizes)) return 1;
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > MAX_SIZE || cols < 1 || cols > MAX_SIZE) {
        std::fprintf(stderr, "data/sizes.bin: cannot transpose %d x %d\n", rows, cols);
        return 1;
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    const size_t bytes = count * sizeof(float);
    std::vector<float> values(count);
    if (!load("data/matrix.bin", values)) return 1;

    float* in = nullptr;
    float* out = nullptr;
    if (!ok(cudaMalloc(&in, bytes)) || !ok(cudaMalloc(&out, bytes))) return 1;
    if (!ok(cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice))) return 1;

    const dim3 block(TILE, STEP);
    const dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transposeTiles<<<grid, block>>>(in, out, rows, cols);
    if (!ok(cudaGetLastError()) || !ok(cudaDeviceSynchronize())) return 1;
    if (!ok(cudaMemcpy(values.data(), out, bytes, cudaMemcpyDeviceToHost))) return 1;
    if (!ok(cudaFree(in)) || !ok(cudaFree(out))) return 1;

    FILE* file = std::fopen("data/transposed.bin", "wb");
    if (file == nullptr) {
        std::perror("data/transposed.bin");
        return 1;
    }
    const bool complete = std::fwrite(values.data(), sizeof(float), count, file) == count;
    return std::fclose(file) == 0 && complete ? 0 : 1;
}
