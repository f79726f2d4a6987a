#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t err = (call);                                                            \
        if (err != cudaSuccess) {                                                            \
            fprintf(stderr, "CUDA error, line %d: %s\n", __LINE__, cudaGetErrorString(err)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

constexpr int TILE = 64;   // rows and columns of C per block
constexpr int TILE_K = 16;
constexpr int SIDE = 16;   // threads per block side
constexpr int PER = TILE / SIDE;
constexpr int MAX_SIZE = 8192;  // all products of two sizes fit an int

__global__ void sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                      int K) {
    __shared__ float tileA[TILE_K][TILE + 1];  // transposed: [k][row]
    __shared__ float tileB[TILE_K][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int thread = ty * SIDE + tx;
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;

    float sum[PER][PER] = {};
    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        for (int e = thread; e < TILE * TILE_K; e += SIDE * SIDE) {
            int r = e / TILE_K, k = e % TILE_K;
            bool inside = row0 + r < M && k0 + k < K;
            tileA[k][r] = inside ? A[(row0 + r) * K + k0 + k] : 0.0f;
        }
        for (int e = thread; e < TILE_K * TILE; e += SIDE * SIDE) {
            int k = e / TILE, c = e % TILE;
            bool inside = k0 + k < K && col0 + c < N;
            tileB[k][c] = inside ? B[(k0 + k) * N + col0 + c] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < TILE_K; ++k) {
            float a[PER], b[PER];
#pragma unroll
            for (int i = 0; i < PER; ++i) {
                a[i] = tileA[k][ty + SIDE * i];
                b[i] = tileB[k][tx + SIDE * i];
            }
#pragma unroll
            for (int i = 0; i < PER; ++i) {
#pragma unroll
                for (int j = 0; j < PER; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < PER; ++i) {
        int row = row0 + ty + SIDE * i;
#pragma unroll
        for (int j = 0; j < PER; ++j) {
            int col = col0 + tx + SIDE * j;
            if (row < M && col < N) {
                C[row * N + col] = sum[i][j];
            }
        }
    }
}

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> values(count);
    std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0) || !in.read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    return values;
}

int main() {
    std::vector<int> sizes = readArray<int>("data/sizes.bin", 3);
    for (int size : sizes) {
        if (size < 1 || size > MAX_SIZE) {
            fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", size, MAX_SIZE);
            return 1;
        }
    }
    const int M = sizes[0], K = sizes[1], N = sizes[2];
    std::vector<float> A = readArray<float>("data/A.bin", static_cast<size_t>(M) * K);
    std::vector<float> B = readArray<float>("data/B.bin", static_cast<size_t>(K) * N);
    std::vector<float> C(static_cast<size_t>(M) * N);

    float *dA, *dB, *dC;
    CUDA_CHECK(cudaMalloc(&dA, A.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dB, B.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dC, C.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(SIDE, SIDE);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    sgemm<<<grid, block>>>(dA, dB, dC, M, N, K);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dA));
    CUDA_CHECK(cudaFree(dB));
    CUDA_CHECK(cudaFree(dC));

    std::ofstream out("data/C.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(C.data()), C.size() * sizeof(float));
    out.close();
    if (!out) {
        fprintf(stderr, "cannot write data/C.bin\n");
        return 1;
    }
    return 0;
}
