#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int RECORDS = 150;
static const int DIGITS = 64;

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool readAll(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool writeAll(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int BYTES = DIGITS / 2;
constexpr int WARPS = 8;

// Bit 4 of a table entry marks an error. A warp decodes one record, two characters per load.
__global__ void decode_records(const uchar2* __restrict__ text, unsigned char* __restrict__ bytes,
                               int* __restrict__ invalid) {
    __shared__ unsigned char value[256];
    const int ch = threadIdx.x;
    const int low = ch | 32;
    value[ch] = ch >= '0' && ch <= '9' ? ch - '0' : ch < 128 && low >= 'a' && low <= 'f' ? low - 'a' + 10 : 16;
    __syncthreads();
    const int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= RECORDS) return;
    int errors = 0;
    for (int k = threadIdx.x % 32; k < BYTES; k += 32) {
        const uchar2 pair = text[(size_t)r * BYTES + k];
        const int a = value[pair.x], b = value[pair.y];
        errors += (a >> 4) + (b >> 4);
        bytes[(size_t)r * BYTES + k] = (a & 15) << 4 | (b & 15);
    }
    for (int s = 16; s > 0; s >>= 1) errors += __shfl_down_sync(0xffffffffu, errors, s);
    if (threadIdx.x % 32 == 0) invalid[r] = errors;
}

int main() {
    const size_t num_text = RECORDS * DIGITS;
    const size_t num_bytes = RECORDS * BYTES;
    std::vector<unsigned char> h_text(num_text);
    std::vector<unsigned char> h_bytes(num_bytes);
    std::vector<int> h_invalid(RECORDS);
    if (!readAll("data/text.bin", h_text.data(), num_text * sizeof(unsigned char))) {
        fprintf(stderr, "cannot read data/text.bin\n");
        return 1;
    }

    unsigned char* dev_text = nullptr;
    unsigned char* dev_bytes = nullptr;
    int* dev_invalid = nullptr;
    check(cudaMalloc(&dev_text, num_text * sizeof(unsigned char)), "cudaMalloc text");
    check(cudaMalloc(&dev_bytes, num_bytes * sizeof(unsigned char)), "cudaMalloc");
    check(cudaMalloc(&dev_invalid, RECORDS * sizeof(int)), "cudaMalloc");
    check(cudaMemcpy(dev_text, h_text.data(), num_text * sizeof(unsigned char), cudaMemcpyHostToDevice),
            "copy text");

    decode_records<<<(RECORDS + WARPS - 1) / WARPS, 256>>>((const uchar2*)dev_text, dev_bytes, dev_invalid);
    check(cudaGetLastError(), "kernel launch");
    check(cudaMemcpy(h_bytes.data(), dev_bytes, num_bytes * sizeof(unsigned char), cudaMemcpyDeviceToHost),
            "copy bytes");
    check(cudaMemcpy(h_invalid.data(), dev_invalid, RECORDS * sizeof(int), cudaMemcpyDeviceToHost), "copy invalid");

    if (!writeAll("data/bytes.bin", h_bytes.data(), num_bytes * sizeof(unsigned char))) return 1;
    if (!writeAll("data/invalid.bin", h_invalid.data(), RECORDS * sizeof(int))) return 1;
    cudaFree(dev_text);
    cudaFree(dev_bytes);
    cudaFree(dev_invalid);
    return 0;
}
