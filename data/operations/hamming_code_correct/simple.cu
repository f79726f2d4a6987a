#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 9000;

static inline void check(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(1);
    }
}

static bool slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = std::fopen(path, "rb");
    if (!f) return false;
    size_t got = std::fread(dst, 1, bytes, f);
    std::fclose(f);
    return got == bytes;
}

static bool spill(const char* path, const void* src, size_t bytes) {
    FILE* f = std::fopen(path, "wb");
    if (!f) return false;
    size_t put = std::fwrite(src, 1, bytes, f);
    return std::fclose(f) == 0 && put == bytes;
}

__global__ void decode_bytes(const uint8_t* received, uint8_t* data, uint8_t* status, int* totals) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    int v = received[i];
    int s = 0;
    for (int b = 0; b < 7; ++b) {
        if (v & (1 << b)) s ^= b + 1;
    }
    int state = 0;
    if (__popc(v) & 1) {
        if (s > 0) v ^= 1 << (s - 1);
        state = 1;
    } else if (s > 0) {
        state = 2;
    }
    data[i] = ((v >> 2) & 1) | (((v >> 4) & 7) << 1);
    status[i] = state;
    atomicAdd(&totals[state], 1);
}

int main() {
    std::vector<uint8_t> received(kN);
    std::vector<uint8_t> data(kN);
    std::vector<uint8_t> status(kN);
    std::vector<int> totals(3);
    if (!slurp("data/received.bin", received.data(), kN * sizeof(uint8_t))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    uint8_t *d_received = nullptr, *d_data = nullptr, *d_status = nullptr;
    int *d_totals = nullptr;
    check(cudaMalloc(&d_received, kN * sizeof(uint8_t)), "malloc received");
    check(cudaMalloc(&d_data, kN * sizeof(uint8_t)), "malloc data");
    check(cudaMalloc(&d_status, kN * sizeof(uint8_t)), "malloc status");
    check(cudaMalloc(&d_totals, 3 * sizeof(int)), "malloc totals");
    check(cudaMemcpy(d_received, received.data(), kN * sizeof(uint8_t), cudaMemcpyHostToDevice),
          "copy received");
    check(cudaMemset(d_totals, 0, 3 * sizeof(int)), "memset");

    const int block = 256;
    decode_bytes<<<(kN + block - 1) / block, block>>>(d_received, d_data, d_status, d_totals);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(data.data(), d_data, kN * sizeof(uint8_t), cudaMemcpyDeviceToHost),
          "copy data");
    check(cudaMemcpy(status.data(), d_status, kN * sizeof(uint8_t), cudaMemcpyDeviceToHost),
          "copy status");
    check(cudaMemcpy(totals.data(), d_totals, 3 * sizeof(int), cudaMemcpyDeviceToHost),
          "copy totals");

    cudaFree(d_received);
    cudaFree(d_data);
    cudaFree(d_status);
    cudaFree(d_totals);
    if (!spill("data/data.bin", data.data(), kN * sizeof(uint8_t))) return 1;
    if (!spill("data/status.bin", status.data(), kN * sizeof(uint8_t))) return 1;
    if (!spill("data/totals.bin", totals.data(), 3 * sizeof(int))) return 1;
    return 0;
}
