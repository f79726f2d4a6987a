#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace wmma = nvcuda::wmma;

constexpr int kMaxSize = 8192;  // any product of two sizes fits an int
constexpr int kTile = 64;       // rows and columns of C per block
constexpr int kStep = 32;       // inner dimension per step
constexpr int kFrag = 16;
constexpr int kThreads = 128;
constexpr int kPitchA = kStep + 8, kPitchB = kTile + 8, kPitchC = kFrag + 4;

__global__ void halfGemm(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C, int m,
                         int k, int n) {
    __shared__ __align__(32) __half tileA[kTile * kPitchA];
    __shared__ __align__(32) __half tileB[kStep * kPitchB];
    __shared__ __align__(32) float staging[kThreads / 32][kFrag * kPitchC];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warpRow = warp / 2 * 32, warpCol = warp % 2 * 32;
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const __half zero = __float2half(0.0f);

    wmma::fragment<wmma::accumulator, kFrag, kFrag, kFrag, float> sum[2][2];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
    }

    for (int k0 = 0; k0 < k; k0 += kStep) {
        for (int e = threadIdx.x; e < kTile * kStep; e += kThreads) {
            const int r = e / kStep, c = e % kStep;
            const bool inside = row0 + r < m && k0 + c < k;
            tileA[r * kPitchA + c] = inside ? A[(row0 + r) * k + k0 + c] : zero;
        }
        for (int e = threadIdx.x; e < kStep * kTile; e += kThreads) {
            const int r = e / kTile, c = e % kTile;
            const bool inside = k0 + r < k && col0 + c < n;
            tileB[r * kPitchB + c] = inside ? B[(k0 + r) * n + col0 + c] : zero;
        }
        __syncthreads();

#pragma unroll
        for (int kk = 0; kk < kStep; kk += kFrag) {
            wmma::fragment<wmma::matrix_a, kFrag, kFrag, kFrag, __half, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, kFrag, kFrag, kFrag, __half, wmma::row_major> b[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(a[i], tileA + (warpRow + i * kFrag) * kPitchA + kk, kPitchA);
                wmma::load_matrix_sync(b[i], tileB + kk * kPitchB + warpCol + i * kFrag, kPitchB);
            }
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            wmma::store_matrix_sync(staging[warp], sum[i][j], kPitchC, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < kFrag * kFrag; e += 32) {
                const int row = row0 + warpRow + i * kFrag + e / kFrag;
                const int col = col0 + warpCol + j * kFrag + e % kFrag;
                if (row < m && col < n) C[row * n + col] = staging[warp][e / kFrag * kPitchC + e % kFrag];
            }
            __syncwarp();  // all have read before the next fragment arrives
        }
    }
}

#define CUDA_TRY(call)                                                                       \
    do {                                                                                     \
        const cudaError_t code = (call);                                                     \
        if (code != cudaSuccess) {                                                           \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(code)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::streamoff bytes = count * sizeof(T);
    std::vector<T> array(count);
    if (in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(array.data()), bytes)) {
        fprintf(stderr, "%s: missing, or not %lld bytes long\n", path, static_cast<long long>(bytes));
        exit(1);
    }
    return array;
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 3);
    for (const int size : sizes) {
        if (size < 1 || size > kMaxSize) {
            fprintf(stderr, "data/sizes.bin: %d is outside 1..%d\n", size, kMaxSize);
            return 1;
        }
    }
    const int m = sizes[0], k = sizes[1], n = sizes[2];
    const auto hostA = readArray<__half>("data/A.bin", static_cast<size_t>(m) * k);
    const auto hostB = readArray<__half>("data/B.bin", static_cast<size_t>(k) * n);
    std::vector<float> hostC(static_cast<size_t>(m) * n);

    __half *A, *B;
    float* C;
    CUDA_TRY(cudaMalloc(&A, hostA.size() * sizeof(__half)));
    CUDA_TRY(cudaMalloc(&B, hostB.size() * sizeof(__half)));
    CUDA_TRY(cudaMalloc(&C, hostC.size() * sizeof(float)));
    CUDA_TRY(cudaMemcpy(A, hostA.data(), hostA.size() * sizeof(__half), cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(B, hostB.data(), hostB.size() * sizeof(__half), cudaMemcpyHostToDevice));
    halfGemm<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), kThreads>>>(A, B, C, m, k, n);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy(hostC.data(), C, hostC.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaFree(A));
    CUDA_TRY(cudaFree(B));
    CUDA_TRY(cudaFree(C));

    std::ofstream out("data/C.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(hostC.data()), hostC.size() * sizeof(float));
    if (!out.flush()) {
        fprintf(stderr, "data/C.bin: write failed\n");
        return 1;
    }
    return 0;
}
