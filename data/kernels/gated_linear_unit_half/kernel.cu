#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

constexpr int kMaxRows = 16384;
constexpr int kMaxPairs = 4096;
constexpr int kRowsPerBlock = 8;
constexpr int kWarpSize = 32;

__device__ __forceinline__ float gated(float value, float gate) { return value / (1.0f + expf(-gate)); }

__global__ void gatedLinearUnit(const __half2* __restrict__ x, __half2* __restrict__ y, int rows, int pairs) {
    const int row = blockIdx.x * kRowsPerBlock + threadIdx.y;
    if (row >= rows) return;

    const __half2* values = x + static_cast<size_t>(row) * 2 * pairs;
    const __half2* gates = values + pairs;
    __half2* out = y + static_cast<size_t>(row) * pairs;
    for (int p = threadIdx.x; p < pairs; p += kWarpSize) {
        const float2 value = __half22float2(values[p]);
        const float2 gate = __half22float2(gates[p]);
        out[p] = __float22half2_rn(make_float2(gated(value.x, gate.x), gated(value.y, gate.y)));
    }
}

#define CHECK(call)                                                                          \
    if (cudaError_t status = (call); status != cudaSuccess) {                                \
        std::cerr << "line " << __LINE__ << ": " << cudaGetErrorString(status) << std::endl; \
        std::exit(EXIT_FAILURE);                                                             \
    }

struct DeviceFree {
    void operator()(void* pointer) const { cudaFree(pointer); }
};
using Pairs = std::unique_ptr<__half2, DeviceFree>;

static Pairs allocate(size_t count) {
    void* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, count * sizeof(__half2)));
    return Pairs(static_cast<__half2*>(pointer));
}

static void readInto(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes || !in.seekg(0).read(static_cast<char*>(target), bytes)) {
        std::cerr << path << ": expected a file of " << bytes << " bytes" << std::endl;
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    int sizes[2];
    readInto("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], pairs = sizes[1];
    if (rows < 1 || rows > kMaxRows || pairs < 1 || pairs > kMaxPairs) {
        std::cerr << "data/sizes.bin: " << rows << " rows of " << pairs << " pairs are not supported" << std::endl;
        return EXIT_FAILURE;
    }
    const size_t results = static_cast<size_t>(rows) * pairs;
    std::vector<__half2> x(2 * results), y(results);
    readInto("data/x.bin", x.data(), x.size() * sizeof(__half2));

    Pairs dX = allocate(x.size());
    Pairs dY = allocate(y.size());
    CHECK(cudaMemcpy(dX.get(), x.data(), x.size() * sizeof(__half2), cudaMemcpyHostToDevice));
    const dim3 block(kWarpSize, kRowsPerBlock);
    gatedLinearUnit<<<(rows + kRowsPerBlock - 1) / kRowsPerBlock, block>>>(dX.get(), dY.get(), rows, pairs);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), dY.get(), y.size() * sizeof(__half2), cudaMemcpyDeviceToHost));

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(__half2));
    out.close();
    if (!out) {
        std::cerr << "data/y.bin: cannot be written" << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
