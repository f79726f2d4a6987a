#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int M = 300;
constexpr int N = 203;
constexpr int K = 260;
constexpr int WORDS = K / 4;
constexpr int TILE = 16;
static_assert(K % 4 == 0, "rows are read as 32-bit words");

void check(cudaError_t code, const char* where) {
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(code));
        std::exit(1);
    }
}

__global__ void gemmInt8(const int* __restrict__ a, const int* __restrict__ w, const float* __restrict__ rowScale,
                         const float* __restrict__ colScale, float* __restrict__ out) {
    __shared__ int tileA[TILE][TILE];
    __shared__ int tileW[TILE][TILE + 1];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;
    const int weightRow = blockIdx.x * TILE + ty;  // the row of w that this thread loads

    int sum = 0;
    for (int first = 0; first < WORDS; first += TILE) {
        const int word = first + tx;
        tileA[ty][tx] = row < M && word < WORDS ? a[row * WORDS + word] : 0;
        tileW[ty][tx] = weightRow < N && word < WORDS ? w[weightRow * WORDS + word] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum = __dp4a(tileA[ty][k], tileW[tx][k], sum);
        }
        __syncthreads();
    }
    if (row < M && col < N) {
        out[row * N + col] = static_cast<float>(sum) * rowScale[row] * colScale[col];
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
    int8_t* a = toDevice(readAll<int8_t>("data/activations.bin", size_t(M) * K));
    int8_t* w = toDevice(readAll<int8_t>("data/weights.bin", size_t(N) * K));
    float* rowScale = toDevice(readAll<float>("data/row_scale.bin", M));
    float* colScale = toDevice(readAll<float>("data/col_scale.bin", N));
    std::vector<float> result(size_t(M) * N);
    float* out = nullptr;
    check(cudaMalloc(&out, result.size() * sizeof(float)), "cudaMalloc");

    dim3 block(TILE, TILE);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemmInt8<<<grid, block>>>(reinterpret_cast<const int*>(a), reinterpret_cast<const int*>(w), rowScale, colScale,
                              out);
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
