#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                       \
    do {                                                                                       \
        const cudaError_t r = (call);                                                          \
        if (r != cudaSuccess) {                                                                \
            std::fprintf(stderr, "CUDA failure in line %d: %s\n", __LINE__, cudaGetErrorString(r)); \
            std::exit(1);                                                                      \
        }                                                                                      \
    } while (0)

template <typename T>
struct Input {
    std::vector<T> host;
    T* device = nullptr;
    Input(const char* path, size_t count) : host(count) {
        std::FILE* file = std::fopen(path, "rb");
        if (!file || std::fread(host.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) {
            std::fprintf(stderr, "%s: %zu values expected\n", path, count);
            std::exit(1);
        }
        std::fclose(file);
        CHECK_CUDA(cudaMalloc(&device, count * sizeof(T)));
        CHECK_CUDA(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Input() { cudaFree(device); }
    Input(const Input&) = delete;
};

template <typename T>
static void output(const char* path, T* device, size_t count) {
    std::vector<T> host(count);
    CHECK_CUDA(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(device));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(host.data(), sizeof(T), count, file) != count || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(1);
    }
}

constexpr int THREADS = 128, MAX_ROOM = 4096;

__global__ void expand(const uint8_t* __restrict__ literals, const uint16_t* __restrict__ lengths,
                       const uint16_t* __restrict__ distances, uint8_t* __restrict__ text, int* __restrict__ used,
                       int tokens, int room) {
    __shared__ uint8_t out[MAX_ROOM];
    const size_t first = static_cast<size_t>(blockIdx.x) * tokens;
    int position = 0;
    for (int k = 0; k < tokens; ++k) {
        const int length = lengths[first + k], distance = distances[first + k];
        const int source = position - distance;
        for (int i = threadIdx.x; i < length; i += THREADS) {
            out[position + i] = out[source + (i < distance ? i : i % distance)];
        }
        position += length;
        if (threadIdx.x == 0) out[position] = literals[first + k];
        ++position;
        __syncthreads();
    }
    const size_t start = static_cast<size_t>(blockIdx.x) * room;
    for (int i = threadIdx.x; i < room; i += THREADS) text[start + i] = i < position ? out[i] : 0;
    if (threadIdx.x == 0) used[blockIdx.x] = position;
}

// Whether a stream stays within its row and never reaches back beyond its start.
static bool isSound(const uint16_t* lengths, const uint16_t* distances, int tokens, int room) {
    int position = 0;
    for (int k = 0; k < tokens; ++k) {
        if (lengths[k] > 0 && (distances[k] < 1 || distances[k] > position)) return false;
        position += lengths[k] + 1;
        if (position > room) return false;
    }
    return true;
}

int main() {
    const Input<int> sizes("data/sizes.bin", 3);
    const int streams = sizes.host[0], tokens = sizes.host[1], room = sizes.host[2];
    if (streams < 1 || streams > 65535 || tokens < 1 || tokens > 512 || room < 1 || room > MAX_ROOM) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = static_cast<size_t>(streams) * tokens;
    const Input<uint8_t> literals("data/literals.bin", count);
    const Input<uint16_t> lengths("data/lengths.bin", count), distances("data/distances.bin", count);
    for (int s = 0; s < streams; ++s) {
        const size_t first = static_cast<size_t>(s) * tokens;
        if (!isSound(&lengths.host[first], &distances.host[first], tokens, room)) {
            std::fprintf(stderr, "stream %d is damaged\n", s);
            return 1;
        }
    }
    uint8_t* text;
    int* used;
    CHECK_CUDA(cudaMalloc(&text, static_cast<size_t>(streams) * room));
    CHECK_CUDA(cudaMalloc(&used, streams * sizeof(int)));
    expand<<<streams, THREADS>>>(literals.device, lengths.device, distances.device, text, used, tokens, room);
    CHECK_CUDA(cudaGetLastError());
    output("data/text.bin", text, static_cast<size_t>(streams) * room);
    output("data/used.bin", used, streams);
    return 0;
}
