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

constexpr unsigned kAll = 0xffffffffu;
constexpr int kWarps = 8;

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

__global__ void __launch_bounds__(32 * kWarps) imbalanceOfWindows(const int4* __restrict__ quotes,
                                                                  long long* __restrict__ imbalance,
                                                                  int* __restrict__ unchanged, int updates, int window,
                                                                  int windows) {
    const int lane = threadIdx.x % 32, index = blockIdx.x * kWarps + threadIdx.x / 32;
    if (index >= windows) return;
    const int4* row = quotes + static_cast<size_t>(blockIdx.y) * updates;
    const long long start = static_cast<long long>(index) * window;
    const int first = static_cast<int>(start) + 1;  // event t goes from quote t - 1 to quote t
    const int end = static_cast<int>(min(start + window, updates - 1LL)) + 1;
    long long sum = 0;
    int same = 0;
    int4 carry = row[first - 1];
    for (int base = first; base < end; base += 32) {
        const int t = base + lane;
        const int4 now = row[min(t, end - 1)];
        int4 old;
        old.x = __shfl_up_sync(kAll, now.x, 1);
        old.y = __shfl_up_sync(kAll, now.y, 1);
        old.z = __shfl_up_sync(kAll, now.z, 1);
        old.w = __shfl_up_sync(kAll, now.w, 1);
        if (lane == 0) old = carry;
        if (t < end) {
            sum += flow(old, now);
            same += now.x == old.x && now.y == old.y && now.z == old.z && now.w == old.w;
        }
        carry.x = __shfl_sync(kAll, now.x, 31);
        carry.y = __shfl_sync(kAll, now.y, 31);
        carry.z = __shfl_sync(kAll, now.z, 31);
        carry.w = __shfl_sync(kAll, now.w, 31);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
    same = __reduce_add_sync(kAll, same);
    if (lane == 0) {
        const size_t at = static_cast<size_t>(blockIdx.y) * windows + index;
        imbalance[at] = sum;
        unchanged[at] = same;
    }
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
    const dim3 grid((windows + kWarps - 1) / kWarps, instruments);
    imbalanceOfWindows<<<grid, 32 * kWarps>>>(dQuotes, dImbalance, dUnchanged, updates, window, windows);
    CUDA(cudaGetLastError());
    writeAll("data/imbalance.bin", dImbalance, count);
    writeAll("data/unchanged.bin", dUnchanged, count);
    CUDA(cudaFree(dQuotes));
    CUDA(cudaFree(dImbalance));
    CUDA(cudaFree(dUnchanged));
    return EXIT_SUCCESS;
}
