#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ROWS 60
#define WORDS 15

#define CUDA_CALL(call) do { cudaError_t code = (call); if (code != cudaSuccess) {                         \
    fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(code)); exit(EXIT_FAILURE); } } while (0)

// One lane per activation: the ballot of a warp is the packed word.
__global__ void pack_signs_ballot(const float* __restrict__ x, const float* __restrict__ threshold,
                                  unsigned int* __restrict__ packed, int n) {
    const int lane = threadIdx.x % 32;
    const int warps = gridDim.x * blockDim.x / 32;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const bool on = x[(size_t)i * 32 + lane] > threshold[(i % WORDS) * 32 + lane];
        const unsigned int bits = __ballot_sync(0xffffffffu, on);
        if (lane == 0) packed[i] = bits;
    }
}

int main() {
    const int n = ROWS * WORDS;
    const int x_size = ROWS * (WORDS * 32);
    const size_t threshold_count = WORDS * 32;
    float* host_x = (float*)malloc(x_size * sizeof(float));
    float* host_threshold = (float*)malloc(threshold_count * sizeof(float));
    unsigned int* host_packed = (unsigned int*)malloc(n * sizeof(unsigned int));

    FILE* f = fopen("data/x.bin", "rb");
    if (!f || fread(host_x, sizeof(float), x_size, f) != (size_t)x_size) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    fclose(f);

    f = fopen("data/threshold.bin", "rb");
    if (!f || fread(host_threshold, sizeof(float), threshold_count, f) != (size_t)threshold_count) {
        fprintf(stderr, "cannot read data/threshold.bin\n");
        return 1;
    }
    fclose(f);

    float *dev_x = nullptr, *dev_threshold = nullptr;
    unsigned int* dev_packed = nullptr;
    CUDA_CALL(cudaMalloc(&dev_x, x_size * sizeof(float)));
    CUDA_CALL(cudaMalloc(&dev_threshold, threshold_count * sizeof(float)));
    CUDA_CALL(cudaMalloc(&dev_packed, n * sizeof(unsigned int)));
    CUDA_CALL(cudaMemcpy(dev_x, host_x, x_size * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(dev_threshold, host_threshold, threshold_count * sizeof(float), cudaMemcpyHostToDevice));

    pack_signs_ballot<<<min((n + 7) / 8, 2048), 256>>>(dev_x, dev_threshold, dev_packed, n);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaDeviceSynchronize());
    CUDA_CALL(cudaMemcpy(host_packed, dev_packed, n * sizeof(unsigned int), cudaMemcpyDeviceToHost));

    f = fopen("data/packed.bin", "wb");
    if (!f || fwrite(host_packed, sizeof(unsigned int), n, f) != (size_t)n) {
        fprintf(stderr, "cannot write data/packed.bin\n");
        return 1;
    }
    fclose(f);

    cudaFree(dev_x);
    cudaFree(dev_threshold);
    cudaFree(dev_packed);
    free(host_x);
    free(host_threshold);
    free(host_packed);
    return 0;
}
