#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_RECORDS 65535
#define MAX_WIDTH 2048
#define WARPS 4

#define TRY(call)                                                                        \
    do {                                                                                 \
        cudaError_t e_ = (call);                                                         \
        if (e_ != cudaSuccess) {                                                         \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(e_));           \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

__global__ void findPeriods(const uint8_t* text, const int* lengths, int width, int* period, int* borders) {
    __shared__ uint8_t s[MAX_WIDTH];
    __shared__ int smallest, count;
    const int length = lengths[blockIdx.x];
    const uint8_t* row = text + (size_t)blockIdx.x * width;
    for (int i = threadIdx.x; i < length; i += 32 * WARPS) s[i] = row[i];
    if (threadIdx.x == 0) {
        smallest = length;
        count = 0;
    }
    __syncthreads();

    const int lane = threadIdx.x & 31;
    int first = length, found = 0;  // of this warp
    for (int p = 1 + (threadIdx.x >> 5); p < length; p += WARPS) {
        bool differs = false;
        for (int i = 0; i < length - p && !differs; i += 32) {
            const int k = i + lane;
            differs = __any_sync(0xffffffffu, k < length - p && s[k] != s[k + p]);
        }
        if (!differs) {
            if (found == 0) first = p;
            ++found;
        }
    }
    if (lane == 0 && found > 0) {
        atomicMin(&smallest, first);
        atomicAdd(&count, found);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        period[blockIdx.x] = smallest;
        borders[blockIdx.x] = count;
    }
}

static void* load(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
    return data;
}

static void store(const char* path, const int* device, int count) {
    int* host = (int*)malloc(count * sizeof(int));
    if (!host) exit(1);
    TRY(cudaMemcpy(host, device, count * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host, sizeof(int), count, file) != (size_t)count || fclose(file) != 0) {
        fprintf(stderr, "%s: not written\n", path);
        exit(1);
    }
    free(host);
}

int main(void) {
    int* sizes = (int*)load("data/sizes.bin", 2 * sizeof(int));
    const int records = sizes[0], width = sizes[1];
    if (records < 1 || records > MAX_RECORDS || width < 1 || width > MAX_WIDTH) {
        fprintf(stderr, "data/sizes.bin: %d records of width %d\n", records, width);
        return 1;
    }
    const size_t bytes = (size_t)records * width;
    void* text = load("data/text.bin", bytes);
    int* lengths = (int*)load("data/lengths.bin", records * sizeof(int));
    for (int r = 0; r < records; ++r) {
        if (lengths[r] < 0 || lengths[r] > width) {
            fprintf(stderr, "data/lengths.bin: record %d has length %d\n", r, lengths[r]);
            return 1;
        }
    }

    uint8_t* dText;
    int *dLengths, *dPeriod, *dBorders;
    TRY(cudaMalloc((void**)&dText, bytes));
    TRY(cudaMalloc((void**)&dLengths, records * sizeof(int)));
    TRY(cudaMalloc((void**)&dPeriod, records * sizeof(int)));
    TRY(cudaMalloc((void**)&dBorders, records * sizeof(int)));
    TRY(cudaMemcpy(dText, text, bytes, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(dLengths, lengths, records * sizeof(int), cudaMemcpyHostToDevice));
    findPeriods<<<records, 32 * WARPS>>>(dText, dLengths, width, dPeriod, dBorders);
    TRY(cudaGetLastError());
    store("data/period.bin", dPeriod, records);
    store("data/borders.bin", dBorders, records);

    TRY(cudaFree(dText));
    TRY(cudaFree(dLengths));
    TRY(cudaFree(dPeriod));
    TRY(cudaFree(dBorders));
    free(sizes);
    free(text);
    free(lengths);
    return 0;
}
