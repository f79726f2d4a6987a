#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call)                                                                          \
    do {                                                                                    \
        const cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(status));          \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

// What the best quotes gain on the bid side less what they gain on the ask side.
// x: bid price, y: bid size, z: ask price, w: ask size.
__device__ long long flow(int4 old, int4 now) {
    long long e = 0;
    if (now.x >= old.x) e += now.y;
    if (now.x <= old.x) e -= old.y;
    if (now.z <= old.z) e -= now.w;
    if (now.z >= old.z) e += old.w;
    return e;
}

__global__ void sumWindow(const int4* quotes, long long* imbalance, int* unchanged, int instruments, int updates,
                          int window, int windows) {
    const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= static_cast<long long>(instruments) * windows) return;
    const int4* row = quotes + at / windows * updates;
    const long long first = at % windows * window + 1;
    long long sum = 0;
    int same = 0;
    for (long long t = first; t < first + window && t < updates; ++t) {
        const int4 old = row[t - 1], now = row[t];
        sum += flow(old, now);
        same += now.x == old.x && now.y == old.y && now.z == old.z && now.w == old.w;
    }
    imbalance[at] = sum;
    unchanged[at] = same;
}

template <typename T>
static void readAll(const char* path, std::vector<T>& into) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(into.data(), sizeof(T), into.size(), file) != into.size() || fgetc(file) != EOF) {
        fprintf(stderr, "%s does not hold %zu values\n", path, into.size());
        exit(EXIT_FAILURE);
    }
    fclose(file);
}

template <typename T>
static void writeAll(const char* path, const T* device, size_t count) {
    std::vector<T> host(count);
    CUDA(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), sizeof(T), count, file) != count || fclose(file)) {
        fprintf(stderr, "%s was not written\n", path);
        exit(EXIT_FAILURE);
    }
}

int main() {
    std::vector<int> sizes(3);
    readAll("data/sizes.bin", sizes);
    const int instruments = sizes[0], updates = sizes[1], window = sizes[2];
    if (instruments < 1 || instruments > 4096 || updates < 2 || updates > 1048576 || window < 1 || window > 65536) {
        fprintf(stderr, "data/sizes.bin is out of range\n");
        return EXIT_FAILURE;
    }
    const int windows = (updates - 2) / window + 1;
    const size_t count = static_cast<size_t>(instruments) * windows;
    std::vector<int4> quotes(static_cast<size_t>(instruments) * updates);
    readAll("data/quotes.bin", quotes);
    int4* dQuotes;
    long long* dImbalance;
    int* dUnchanged;
    CUDA(cudaMalloc(&dQuotes, quotes.size() * sizeof(int4)));
    CUDA(cudaMalloc(&dImbalance, count * sizeof(long long)));
    CUDA(cudaMalloc(&dUnchanged, count * sizeof(int)));
    CUDA(cudaMemcpy(dQuotes, quotes.data(), quotes.size() * sizeof(int4), cudaMemcpyHostToDevice));
    const unsigned blocks = static_cast<unsigned>((count + 127) / 128);
    sumWindow<<<blocks, 128>>>(dQuotes, dImbalance, dUnchanged, instruments, updates, window, windows);
    CUDA(cudaGetLastError());
    writeAll("data/imbalance.bin", dImbalance, count);
    writeAll("data/unchanged.bin", dUnchanged, count);
    CUDA(cudaFree(dQuotes));
    CUDA(cudaFree(dImbalance));
    CUDA(cudaFree(dUnchanged));
    return EXIT_SUCCESS;
}
