#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
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

// A site that can topple does so and hands its grains out; atomics keep the counts right whatever the order.
__global__ void topple(int* grains, int* topplings, int* busy, int height, int width) {
    const int here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here >= height * width) return;
    const int falls = atomicAdd(&grains[here], 0) / 4;
    if (falls == 0) return;
    const int x = here % width, y = here / width;
    atomicSub(&grains[here], 4 * falls);
    topplings[here] += falls;
    if (y > 0) atomicAdd(&grains[here - width], falls);
    if (y + 1 < height) atomicAdd(&grains[here + width], falls);
    if (x > 0) atomicAdd(&grains[here - 1], falls);
    if (x + 1 < width) atomicAdd(&grains[here + 1], falls);
    *busy = 1;
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
    do {
        TRY(cudaMemset(busy, 0, sizeof(int)));
        topple<<<static_cast<int>((cells + 255) / 256), 256>>>(now, topplings, busy, height, width);
        TRY(cudaMemcpy(&active, busy, sizeof(int), cudaMemcpyDeviceToHost));
    } while (active);
    writeInts("data/stable.bin", now, cells);
    writeInts("data/topplings.bin", topplings, cells);
    for (int* pointer : {now, next, topplings, busy}) TRY(cudaFree(pointer));
    return 0;
}
