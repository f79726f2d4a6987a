#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxSamples = 1 << 23, kThreads = 256, kMaxBlocks = 1024;

__device__ uint32_t encode(int x, long long& error) {
    const int m = min(abs(x), 32635) + 132;
    const int e = 24 - __clz(m), f = (m >> (e + 3)) & 15;
    const int magnitude = ((2 * f + 33) << (e + 2)) - 132;
    const long long difference = x - (x < 0 ? -magnitude : magnitude);
    error += difference * difference;
    return ~((x < 0 ? 0x80u : 0u) | static_cast<uint32_t>(e << 4 | f)) & 0xFFu;
}

// Two samples of one 32-bit word to two bytes.
__device__ uint32_t encodePair(int word, long long& error) {
    const int low = static_cast<int16_t>(word & 0xFFFF), high = word >> 16;
    const uint32_t first = encode(low, error);
    return first | encode(high, error) << 8;
}

__global__ void muLaw(const int16_t* __restrict__ x, uint8_t* __restrict__ codes, unsigned long long* total, int n) {
    const int groups = n / 8, thread = blockIdx.x * kThreads + threadIdx.x;
    const int4* packed = reinterpret_cast<const int4*>(x);
    uint2* out = reinterpret_cast<uint2*>(codes);
    long long error = 0;
    for (int g = thread; g < groups; g += gridDim.x * kThreads) {
        const int4 samples = packed[g];
        const uint32_t a = encodePair(samples.x, error), b = encodePair(samples.y, error);
        const uint32_t c = encodePair(samples.z, error), d = encodePair(samples.w, error);
        out[g] = make_uint2(a | b << 16, c | d << 16);
    }
    const int rest = 8 * groups + thread;
    if (rest < n) codes[rest] = static_cast<uint8_t>(encode(x[rest], error));
    for (int step = 16; step > 0; step /= 2) error += __shfl_down_sync(0xFFFFFFFFu, error, step);
    if (threadIdx.x % 32 == 0) atomicAdd(total, static_cast<unsigned long long>(error));
}

#define CHECK(call)                                                                  \
    do {                                                                             \
        const cudaError_t status = (call);                                           \
        if (status != cudaSuccess) {                                                 \
            std::cerr << #call << ": " << cudaGetErrorString(status) << std::endl;   \
            return 1;                                                                \
        }                                                                            \
    } while (0)

static bool readFile(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (in && in.tellg() == bytes && in.seekg(0).read(static_cast<char*>(data), bytes)) return true;
    std::cerr << path << ": expected " << bytes << " bytes" << std::endl;
    return false;
}

static bool writeFile(const char* path, const void* data, std::streamsize bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
    out.close();
    if (!out) std::cerr << path << ": cannot be written" << std::endl;
    return static_cast<bool>(out);
}

int main() {
    int n = 0;
    if (!readFile("data/sizes.bin", &n, sizeof n)) return 1;
    if (n < 1 || n > kMaxSamples) {
        std::cerr << "data/sizes.bin: n is " << n << ", expected 1 to " << kMaxSamples << std::endl;
        return 1;
    }
    std::vector<int16_t> x(n);
    std::vector<uint8_t> codes(n);
    if (!readFile("data/x.bin", x.data(), n * sizeof(int16_t))) return 1;

    int16_t* dX = nullptr;
    uint8_t* dCodes = nullptr;
    unsigned long long *dError = nullptr, error = 0;
    CHECK(cudaMalloc(&dX, n * sizeof(int16_t)));
    CHECK(cudaMalloc(&dCodes, n));
    CHECK(cudaMalloc(&dError, sizeof error));
    CHECK(cudaMemcpy(dX, x.data(), n * sizeof(int16_t), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dError, 0, sizeof error));
    const int blocks = (n / 8 + kThreads) / kThreads;  // at least one, for the rest
    muLaw<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, kThreads>>>(dX, dCodes, dError, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(codes.data(), dCodes, n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&error, dError, sizeof error, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dX));
    CHECK(cudaFree(dCodes));
    CHECK(cudaFree(dError));
    const bool written = writeFile("data/codes.bin", codes.data(), n) &&
                         writeFile("data/squared_error.bin", &error, sizeof error);
    return written ? 0 : 1;
}
