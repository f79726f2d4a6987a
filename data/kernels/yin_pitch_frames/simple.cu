#include <cuda_runtime.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 64
#define MAX_WINDOW 1024
#define MAX_LAGS 1024

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

__device__ u64 difference_at(const int16_t* frame, int window, int lag) {
    u64 sum = 0;
    for (int j = 0; j < window; ++j) {
        const unsigned apart = (unsigned)abs(frame[j] - frame[j + lag]);
        sum += apart * apart;  // at most 65535 squared, which fits
    }
    return sum;
}

__global__ void find_period(const int16_t* x, int* lag_out, u64* difference, int frames, int window, int lags,
                            int hop) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= frames) return;
    const int16_t* frame = x + (size_t)index * hop;
    u64 sum = 0, least = ~0ull, last = 0;
    int found = 0;
    for (int lag = 1; lag <= lags; ++lag) {
        const u64 d = difference_at(frame, window, lag);
        if (found && d >= last) break;  // the bottom of the dip was the lag before
        sum += d;
        if (d < least) least = d;
        if (found || 10 * d * lag < sum) {
            found = lag;
            last = d;
        }
    }
    lag_out[index] = found;
    difference[index] = found ? last : least;
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
    const int blocks = (frames + THREADS - 1) / THREADS;
    find_period<<<blocks, THREADS>>>(dev_x, dev_lag, dev_difference, frames, window, lags, hop);
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
