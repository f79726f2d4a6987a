#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void fail(const char* where, const char* why) {
    fprintf(stderr, "%s: %s\n", where, why);
    exit(1);
}

#define CUDA(call)                                                                    \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) fail(#call, cudaGetErrorString(status));           \
    } while (0)

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) fail(path, "cannot be opened");
    if (fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) fail(path, "has the wrong length");
    fclose(file);
}

constexpr int WARPS = 4;
constexpr unsigned ALL = 0xffffffffu;

// Lane l holds the places 8l .. 8l + 7 of the list; place 8l is the lowest byte of `list`.
__global__ void moveToFront(const uint8_t* __restrict__ text, uint8_t* __restrict__ ranks, int blocks, int length) {
    const int lane = threadIdx.x, block = blockIdx.x * WARPS + threadIdx.y;
    if (block >= blocks) return;
    const size_t start = static_cast<size_t>(block) * length;
    unsigned long long list = 0;
    for (int k = 7; k >= 0; --k) list = list << 8 | static_cast<unsigned>(8 * lane + k);
    for (int first = 0; first < length; first += 32) {
        const int count = min(32, length - first);
        const int mine = lane < count ? text[start + first + lane] : 0;
        int answer = 0;
        for (int i = 0; i < count; ++i) {
            const unsigned symbol = __shfl_sync(ALL, mine, i);
            int place = -1;
            for (int k = 0; k < 8; ++k) {
                if ((list >> (8 * k) & 255) == symbol) place = k;
            }
            const int owner = __ffs(__ballot_sync(ALL, place >= 0)) - 1;
            const int within = __shfl_sync(ALL, place, owner);
            if (lane == i) answer = 8 * owner + within;
            // Everything before the symbol moves back by one; the owner closes the gap.
            unsigned long long incoming = __shfl_up_sync(ALL, list >> 56, 1);
            if (lane == 0) incoming = symbol;
            if (lane < owner) {
                list = list << 8 | incoming;
            } else if (lane == owner) {
                const int bits = 8 * (within + 1);
                const unsigned long long kept = bits == 64 ? 0 : list >> bits << bits;
                const unsigned long long moved = (list << 8 | incoming) & (bits == 64 ? ~0ull : (1ull << bits) - 1);
                list = kept | moved;
            }
        }
        if (lane < count) ranks[start + first + lane] = static_cast<uint8_t>(answer);
    }
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int blocks = sizes[0], length = sizes[1];
    if (blocks < 1 || blocks > 65535 || length < 1 || length > 8192) fail("data/sizes.bin", "out of range");
    std::vector<uint8_t> bytes(static_cast<size_t>(blocks) * length);
    readFile("data/text.bin", bytes.data(), bytes.size());
    uint8_t *text, *ranks;
    CUDA(cudaMalloc(&text, bytes.size()));
    CUDA(cudaMalloc(&ranks, bytes.size()));
    CUDA(cudaMemcpy(text, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    moveToFront<<<(blocks + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(text, ranks, blocks, length);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(bytes.data(), ranks, bytes.size(), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(text));
    CUDA(cudaFree(ranks));
    FILE* file = fopen("data/ranks.bin", "wb");
    if (!file || fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) fail("data/ranks.bin", "not written");
    if (fclose(file) != 0) fail("data/ranks.bin", "not closed");
    return 0;
}
