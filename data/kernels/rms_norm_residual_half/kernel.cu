#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

constexpr int kMaxRows = 131072;
constexpr int kCols = 512;
constexpr int kPairs = kCols / 2;        // half2 values per row
constexpr int kPerLane = kPairs / 32;    // half2 values per lane
constexpr int kWarpsPerBlock = 8;
static_assert(kCols % 64 == 0, "a row must split evenly over the lanes");

__global__ void addRmsNorm(const __half2* __restrict__ x, const __half2* __restrict__ residual,
                           const __half2* __restrict__ weight, __half2* __restrict__ hidden,
                           __half2* __restrict__ normed, int rows) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kWarpsPerBlock + threadIdx.x / 32;
    if (row >= rows) return;  // uniform in the warp
    const size_t base = static_cast<size_t>(row) * kPairs;

    float2 h[kPerLane];
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
        const int p = lane + 32 * k;
        float2 a = __half22float2(x[base + p]);
        float2 b = __half22float2(residual[base + p]);
        h[k] = make_float2(a.x + b.x, a.y + b.y);
        squares += h[k].x * h[k].x + h[k].y * h[k].y;
        hidden[base + p] = __floats2half2_rn(h[k].x, h[k].y);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        squares += __shfl_xor_sync(0xffffffffu, squares, distance);
    }
    const float scale = rsqrtf(squares / kCols + 1e-6f);
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
        const int p = lane + 32 * k;
        float2 w = __half22float2(weight[p]);
        normed[base + p] = __floats2half2_rn(h[k].x * scale * w.x, h[k].y * scale * w.y);
    }
}

#define CHECK_CUDA(expression)                                                            \
    do {                                                                                  \
        const cudaError_t result_ = (expression);                                         \
        if (result_ != cudaSuccess) {                                                     \
            std::fprintf(stderr, "%s -> %s\n", #expression, cudaGetErrorString(result_)); \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

using Bytes = std::vector<char>;

static Bytes readBytes(const char* path, size_t size) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != size) {
        std::fprintf(stderr, "%s: not a file of %zu bytes\n", path, size);
        std::exit(EXIT_FAILURE);
    }
    Bytes bytes(size);
    in.seekg(0);
    in.read(bytes.data(), size);
    if (!in) std::exit(EXIT_FAILURE);
    return bytes;
}

static __half2* upload(const Bytes& bytes) {
    __half2* device = nullptr;
    CHECK_CUDA(cudaMalloc(&device, bytes.size()));
    CHECK_CUDA(cudaMemcpy(device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    return device;
}

static bool download(const char* path, const __half2* device, size_t size) {
    Bytes bytes(size);
    CHECK_CUDA(cudaMemcpy(bytes.data(), device, size, cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), size);
    out.close();
    if (!out) std::fprintf(stderr, "%s: write failed\n", path);
    return static_cast<bool>(out);
}

int main() {
    int rows = 0;
    std::memcpy(&rows, readBytes("data/sizes.bin", sizeof(rows)).data(), sizeof(rows));
    if (rows < 1 || rows > kMaxRows) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", rows, kMaxRows);
        return EXIT_FAILURE;
    }
    const size_t matrixBytes = static_cast<size_t>(rows) * kCols * sizeof(__half);
    __half2* x = upload(readBytes("data/x.bin", matrixBytes));
    __half2* residual = upload(readBytes("data/residual.bin", matrixBytes));
    __half2* weight = upload(readBytes("data/weight.bin", kCols * sizeof(__half)));
    __half2 *hidden = nullptr, *normed = nullptr;
    CHECK_CUDA(cudaMalloc(&hidden, matrixBytes));
    CHECK_CUDA(cudaMalloc(&normed, matrixBytes));

    const int blocks = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
    addRmsNorm<<<blocks, 32 * kWarpsPerBlock>>>(x, residual, weight, hidden, normed, rows);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());

    bool written = download("data/hidden.bin", hidden, matrixBytes);
    written = download("data/normed.bin", normed, matrixBytes) && written;
    for (__half2* pointer : {x, residual, weight, hidden, normed}) CHECK_CUDA(cudaFree(pointer));
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
