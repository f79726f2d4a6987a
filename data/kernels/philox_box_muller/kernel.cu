#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

__device__ uint4 philox4x32(uint4 c, uint32_t k0, uint32_t k1) {
    constexpr uint32_t kMul0 = 0xD2511F53u, kMul1 = 0xCD9E8D57u;
    constexpr uint32_t kStep0 = 0x9E3779B9u, kStep1 = 0xBB67AE85u;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        uint32_t hi0 = __umulhi(kMul0, c.x), lo0 = kMul0 * c.x;
        uint32_t hi1 = __umulhi(kMul1, c.z), lo1 = kMul1 * c.z;
        c = make_uint4(hi1 ^ c.y ^ k0, lo1, hi0 ^ c.w ^ k1, lo0);
        k0 += kStep0;
        k1 += kStep1;
    }
    return c;
}

__device__ float2 boxMuller(uint32_t a, uint32_t b) {
    constexpr float kScale = 1.0f / 16777216.0f;  // 2^-24
    float u = static_cast<float>((a >> 8) + 1u) * kScale;  // in (0, 1]
    float w = static_cast<float>(b >> 8) * kScale;         // in [0, 1)
    float rho = sqrtf(-2.0f * logf(u));
    float sine, cosine;
    sincospif(2.0f * w, &sine, &cosine);
    return make_float2(rho * cosine, rho * sine);
}

__global__ void generate(uint32_t k0, uint32_t k1, uint4* bits, float4* normals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 r = philox4x32(make_uint4(static_cast<uint32_t>(i), 0u, 0u, 0u), k0, k1);
    float2 first = boxMuller(r.x, r.y);
    float2 second = boxMuller(r.z, r.w);
    bits[i] = r;
    normals[i] = make_float4(first.x, first.y, second.x, second.y);
}

#define CUDA_CHECK(call)                                                                 \
    do {                                                                                 \
        cudaError_t status = (call);                                                     \
        if (status != cudaSuccess) {                                                     \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            std::exit(EXIT_FAILURE);                                                     \
        }                                                                                \
    } while (0)

// Reads a file of exactly this many bytes.
static void load(const char* path, void* target, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(static_cast<char*>(target), bytes)) {
        std::fprintf(stderr, "%s: expected %lld bytes\n", path, static_cast<long long>(bytes));
        std::exit(EXIT_FAILURE);
    }
}

// Copies device memory to the host and writes it as it is.
static void save(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    CUDA_CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(host.data(), bytes);
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    constexpr int kMaxCounters = 1 << 24;
    int32_t n;
    uint32_t key[2];
    load("data/sizes.bin", &n, sizeof(n));
    load("data/key.bin", key, sizeof(key));
    if (n < 1 || n > kMaxCounters) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxCounters);
        return EXIT_FAILURE;
    }

    uint4* bits = nullptr;
    float4* normals = nullptr;
    CUDA_CHECK(cudaMalloc(&bits, n * sizeof(uint4)));
    CUDA_CHECK(cudaMalloc(&normals, n * sizeof(float4)));

    const int threads = 128;
    generate<<<(n + threads - 1) / threads, threads>>>(key[0], key[1], bits, normals, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    save("data/bits.bin", bits, n * sizeof(uint4));
    save("data/normals.bin", normals, n * sizeof(float4));
    CUDA_CHECK(cudaFree(bits));
    CUDA_CHECK(cudaFree(normals));
    return EXIT_SUCCESS;
}
