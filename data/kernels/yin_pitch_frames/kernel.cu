#include <cuda_runtime.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 128
#define MAX_WINDOW 1024
#define MAX_LAGS 1024
#define ALL_LANES 0xffffffffu

typedef unsigned long long u64;

static void stop_if(int bad, const char* text) {
    if (!bad) return;
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void stop_if_cuda(cudaError_t status) { stop_if(status != cudaSuccess, cudaGetErrorString(status)); }

static void read_file(const char* path, void* into, size_t bytes) {
    FILE* f = fopen(path, "rb");
    stop_if(f == NULL || fread(into, 1, bytes, f) != bytes || fgetc(f) != EOF, path);
    fclose(f);
}

static void write_file(const char* path, const void* from, size_t bytes) {
    FILE* f = fopen(path, "wb");
    stop_if(f == NULL || fwrite(from, 1, bytes, f) != bytes || fclose(f) != 0, path);
}

__global__ void find_period(const int16_t* __restrict__ x, int* __restrict__ lag_out, u64* __restrict__ difference,
                            int window, int lags, int hop) {
    __shared__ int16_t frame[MAX_WINDOW + MAX_LAGS];
    __shared__ u64 d[MAX_LAGS + 1];
    const int16_t* source = x + (size_t)blockIdx.x * hop;
    for (int j = threadIdx.x; j < window + lags; j += THREADS) frame[j] = source[j];
    __syncthreads();
    for (int lag = 1 + threadIdx.x; lag <= lags; lag += THREADS) {
        u64 sum = 0;
        for (int j = 0; j < window; ++j) {
            const unsigned apart = (unsigned)abs(frame[j] - frame[j + lag]);
            sum += apart * apart;  // at most 65535 squared, which fits
        }
        d[lag] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;

    const int lane = threadIdx.x;
    u64 before = 0, least = ~0ull;
    int found = 0;
    for (int first = 1; first <= lags && !found; first += 32) {
        const int lag = first + lane;
        const u64 own = lag <= lags ? d[lag] : 0;
        if (lag <= lags && own < least) least = own;
        u64 sum = own;  // of d[1] to d[lag]
        for (int step = 1; step < 32; step *= 2) {
            const u64 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        sum += before;
        const unsigned hits = __ballot_sync(ALL_LANES, lag <= lags && 10 * own * lag < sum);
        if (hits) found = first + __ffs(hits) - 1;
        before = __shfl_sync(ALL_LANES, sum, 31);
    }
    for (int step = 16; step > 0; step /= 2) {
        const u64 other = __shfl_xor_sync(ALL_LANES, least, step);
        if (other < least) least = other;
    }
    if (lane == 0) {
        while (found && found < lags && d[found + 1] < d[found]) ++found;
        lag_out[blockIdx.x] = found;
        difference[blockIdx.x] = found ? d[found] : least;
    }
}

int main(void) {
    int sizes[4];
    read_file("data/sizes.bin", sizes, sizeof sizes);
    const int samples = sizes[0], window = sizes[1], lags = sizes[2], hop = sizes[3];
    stop_if(samples < 18 || samples > 4194304, "data/sizes.bin: samples");
    stop_if(window < 16 || window > MAX_WINDOW || lags < 2 || lags > MAX_LAGS, "data/sizes.bin: window or lags");
    stop_if(window + lags > samples || hop < 1 || hop > 4096, "data/sizes.bin: no whole frame, or hop");
    const int frames = (samples - window - lags) / hop + 1;
    const size_t x_bytes = samples * sizeof(int16_t), lag_bytes = frames * sizeof(int), d_bytes = frames * sizeof(u64);

    int16_t* x = (int16_t*)malloc(x_bytes);
    int* lag = (int*)malloc(lag_bytes);
    u64* difference = (u64*)malloc(d_bytes);
    stop_if(!x || !lag || !difference, "out of memory");
    read_file("data/x.bin", x, x_bytes);

    int16_t* dev_x;
    int* dev_lag;
    u64* dev_difference;
    stop_if_cuda(cudaMalloc(&dev_x, x_bytes));
    stop_if_cuda(cudaMalloc(&dev_lag, lag_bytes));
    stop_if_cuda(cudaMalloc(&dev_difference, d_bytes));
    stop_if_cuda(cudaMemcpy(dev_x, x, x_bytes, cudaMemcpyHostToDevice));
    find_period<<<frames, THREADS>>>(dev_x, dev_lag, dev_difference, window, lags, hop);
    stop_if_cuda(cudaGetLastError());
    stop_if_cuda(cudaMemcpy(lag, dev_lag, lag_bytes, cudaMemcpyDeviceToHost));
    stop_if_cuda(cudaMemcpy(difference, dev_difference, d_bytes, cudaMemcpyDeviceToHost));
    write_file("data/lag.bin", lag, lag_bytes);
    write_file("data/difference.bin", difference, d_bytes);
    stop_if_cuda(cudaFree(dev_x));
    stop_if_cuda(cudaFree(dev_lag));
    stop_if_cuda(cudaFree(dev_difference));
    free(x);
    free(lag);
    free(difference);
    return 0;
}
