#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t e_ = (call);                                                                   \
        if (e_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(int), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu int32 values\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    TRY(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(int), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot write\n", path);
        exit(1);
    }
}

constexpr int BX = 32, BY = 8, ROUNDS = 16;  // rounds between two looks at the flag

__device__ __forceinline__ int fallsAt(const int* grains, int y, int x, int height, int width) {
    return y >= 0 && y < height && x >= 0 && x < width ? grains[y * width + x] >> 2 : 0;
}

// Every site gathers what its neighbours drop; `busy` is set if anything fell.
__global__ void topple(const int* __restrict__ before, int* __restrict__ after, int* __restrict__ topplings, int* busy,
                       int height, int width) {
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int falls = 0;
    if (x < width && y < height) {
        const int here = y * width + x, grains = before[here];
        falls = grains >> 2;
        int next = grains - 4 * falls;
        next += fallsAt(before, y - 1, x, height, width) + fallsAt(before, y + 1, x, height, width);
        next += fallsAt(before, y, x - 1, height, width) + fallsAt(before, y, x + 1, height, width);
        after[here] = next;
        if (falls > 0) topplings[here] += falls;
    }
    if (__syncthreads_or(falls) && threadIdx.x == 0 && threadIdx.y == 0) *busy = 1;
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 2);
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > 2048 || width < 1 || width > 2048) {
        fprintf(stderr, "data/sizes.bin: %d x %d\n", height, width);
        return 1;
    }
    const size_t cells = static_cast<size_t>(height) * width, bytes = cells * sizeof(int);
    const std::vector<int> grains = readInts("data/grains.bin", cells);
    int *now, *next, *topplings, *busy, active;
    TRY(cudaMalloc(&now, bytes));
    TRY(cudaMalloc(&next, bytes));
    TRY(cudaMalloc(&topplings, bytes));
    TRY(cudaMalloc(&busy, sizeof(int)));
    TRY(cudaMemcpy(now, grains.data(), bytes, cudaMemcpyHostToDevice));
    TRY(cudaMemset(topplings, 0, bytes));
    const dim3 block(BX, BY), grid((width + BX - 1) / BX, (height + BY - 1) / BY);
    do {
        TRY(cudaMemset(busy, 0, sizeof(int)));
        for (int round = 0; round < ROUNDS; ++round) {
            topple<<<grid, block>>>(now, next, topplings, busy, height, width);
            std::swap(now, next);
        }
        TRY(cudaMemcpy(&active, busy, sizeof(int), cudaMemcpyDeviceToHost));
    } while (active);
    writeInts("data/stable.bin", now, cells);
    writeInts("data/topplings.bin", topplings, cells);
    for (int* pointer : {now, next, topplings, busy}) TRY(cudaFree(pointer));
    return 0;
}
