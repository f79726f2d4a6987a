#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct State {
    uint32_t word[16];
};

__device__ void quarterRound(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
    a += b;
    d = __funnelshift_l(d ^ a, d ^ a, 16);
    c += d;
    b = __funnelshift_l(b ^ c, b ^ c, 12);
    a += b;
    d = __funnelshift_l(d ^ a, d ^ a, 8);
    c += d;
    b = __funnelshift_l(b ^ c, b ^ c, 7);
}

__global__ void encrypt(const State start, const uint4* text, uint4* cipher, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    uint32_t x[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) x[k] = start.word[k];
    x[12] += i;
    for (int round = 0; round < 10; ++round) {
        quarterRound(x[0], x[4], x[8], x[12]);
        quarterRound(x[1], x[5], x[9], x[13]);
        quarterRound(x[2], x[6], x[10], x[14]);
        quarterRound(x[3], x[7], x[11], x[15]);
        quarterRound(x[0], x[5], x[10], x[15]);
        quarterRound(x[1], x[6], x[11], x[12]);
        quarterRound(x[2], x[7], x[8], x[13]);
        quarterRound(x[3], x[4], x[9], x[14]);
    }
    x[12] += i;  // the initial state has the counter, too
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const size_t at = 4 * (size_t)i + k;
        uint4 four = text[at];
        four.x ^= x[4 * k] + start.word[4 * k];
        four.y ^= x[4 * k + 1] + start.word[4 * k + 1];
        four.z ^= x[4 * k + 2] + start.word[4 * k + 2];
        four.w ^= x[4 * k + 3] + start.word[4 * k + 3];
        cipher[at] = four;
    }
}

#define CHECK(call)                                                                    \
    do {                                                                               \
        const cudaError_t status_ = (call);                                            \
        if (status_ != cudaSuccess) {                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status_));   \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    fclose(file);
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& host) {
    T* device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const int blocks = readFile<int>("data/sizes.bin", 1)[0];
    if (blocks < 1 || blocks > 4194304) {
        fprintf(stderr, "data/sizes.bin: %d blocks\n", blocks);
        return 1;
    }
    const std::vector<uint32_t> key = readFile<uint32_t>("data/key.bin", 8);
    const std::vector<uint32_t> nonce = readFile<uint32_t>("data/nonce.bin", 3);
    State start = {{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}};
    for (int k = 0; k < 8; ++k) start.word[4 + k] = key[k];
    start.word[12] = readFile<uint32_t>("data/counter.bin", 1)[0];
    for (int k = 0; k < 3; ++k) start.word[13 + k] = nonce[k];

    uint4* text = toDevice(readFile<uint4>("data/text.bin", 4 * (size_t)blocks));
    uint4* cipher;
    CHECK(cudaMalloc(&cipher, 64 * (size_t)blocks));
    encrypt<<<(blocks + 255) / 256, 256>>>(start, text, cipher, blocks);
    CHECK(cudaGetLastError());
    writeFile("data/cipher.bin", cipher, 4 * (size_t)blocks);
    CHECK(cudaFree(text));
    CHECK(cudaFree(cipher));
    return 0;
}
