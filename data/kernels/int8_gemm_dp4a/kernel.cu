#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int TILE = 16;
constexpr int MAX_SIDE = 8192;   // rows of either matrix
constexpr int MAX_WORDS = 4096;  // 4 * 4096 products of at most 2^14 fit an int

void check(cudaError_t code, const char* where) {
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(code));
        std::exit(1);
    }
}

__global__ void gemmInt8(const int* __restrict__ a, const int* __restrict__ w, const float* __restrict__ rowScale,
                         const float* __restrict__ colScale, float* __restrict__ out, int m, int n, int words) {
    __shared__ int tileA[TILE][TILE];
    __shared__ int tileW[TILE][TILE + 1];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;
    const int weightRow = blockIdx.x * TILE + ty;  // the row of w that this thread loads

    int sum = 0;
    for (int first = 0; first < words; first += TILE) {
        const int word = first + tx;
        tileA[ty][tx] = row < m && word < words ? a[row * words + word] : 0;
        tileW[ty][tx] = weightRow < n && word < words ? w[weightRow * words + word] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum = __dp4a(tileA[ty][k], tileW[tx][k], sum);
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        out[row * n + col] = static_cast<float>(sum) * rowScale[row] * colScale[col];
    }
}

template <typename T>
std::vector<T> readAll(const char* path, size_t count) {
    std::vector<T> data(count + 1);  // one more, to notice a file that is too long
    std::FILE* file = std::fopen(path, "rb");
    size_t got = file ? std::fread(data.data(), sizeof(T), count + 1, file) : 0;
    if (file) std::fclose(file);
    if (got != count) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, count);
        std::exit(1);
    }
    data.resize(count);
    return data;
}

template <typename T>
T* toDevice(const std::vector<T>& host) {
    T* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy to device");
    return device;
}

}  // namespace

int main() {
    const std::vector<int> sizes = readAll<int>("data/sizes.bin", 3);
    const int m = sizes[0], n = sizes[1], words = sizes[2];
    if (m < 1 || m > MAX_SIDE || n < 1 || n > MAX_SIDE || words < 1 || words > MAX_WORDS) {
        std::fprintf(stderr, "data/sizes.bin: (%d, %d, %d) is out of range\n", m, n, words);
        return 1;
    }
    int* a = toDevice(readAll<int>("data/activations.bin", size_t(m) * words));
    int* w = toDevice(readAll<int>("data/weights.bin", size_t(n) * words));
    float* rowScale = toDevice(readAll<float>("data/row_scale.bin", m));
    float* colScale = toDevice(readAll<float>("data/col_scale.bin", n));
    std::vector<float> result(size_t(m) * n);
    float* out = nullptr;
    check(cudaMalloc(&out, result.size() * sizeof(float)), "cudaMalloc");

    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    gemmInt8<<<grid, block>>>(a, w, rowScale, colScale, out, m, n, words);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(result.data(), out, result.size() * sizeof(float), cudaMemcpyDeviceToHost), "kernel or copy");
    for (void* pointer : {(void*)a, (void*)w, (void*)rowScale, (void*)colScale, (void*)out}) {
        check(cudaFree(pointer), "cudaFree");
    }

    std::FILE* file = std::fopen("data/product.bin", "wb");
    if (!file) {
        std::fprintf(stderr, "cannot open data/product.bin\n");
        return 1;
    }
    bool complete = std::fwrite(result.data(), sizeof(float), result.size(), file) == result.size();
    complete = std::fclose(file) == 0 && complete;
    return complete ? 0 : 1;
}
