#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

void get_tensor(const char* path, void* mem, size_t size) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(mem, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void put_tensor(const char* path, const void* mem, size_t size) {
    FILE* f = fopen(path, "wb");
    if (f == NULL || fwrite(mem, 1, size, f) != size) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define ROWS 200
#define BINS 64

template <typename T>
__device__ T block_total(T v, T* scratch) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    return scratch[0] + scratch[1] + scratch[2] + scratch[3];
}

__global__ void histogram_distances_128(const int* __restrict__ a, const int* __restrict__ b,
                                        float* __restrict__ hellinger, float* __restrict__ variation) {
    __shared__ int counts[4];
    __shared__ float parts[4];
    const size_t base = (size_t)blockIdx.x * BINS;
    int na = 0, nb = 0;
    float root = 0.0f;
    // The root sum needs no totals: they come out of it as 1 / sqrt(na * nb).
    for (int k = threadIdx.x; k < BINS; k += 128) {
        const int x = a[base + k], y = b[base + k];
        na += x;
        nb += y;
        root += sqrtf((float)x * (float)y);
    }
    const float inv_a = 1.0f / block_total(na, counts);
    const float inv_b = 1.0f / block_total(nb, counts);
    root = block_total(root, parts);
    float diff = 0.0f;
    for (int k = threadIdx.x; k < BINS; k += 128) diff += fabsf(a[base + k] * inv_a - b[base + k] * inv_b);
    diff = block_total(diff, parts);
    if (threadIdx.x == 0) {
        hellinger[blockIdx.x] = sqrtf(fmaxf(0.0f, 1.0f - root * sqrtf(inv_a) * sqrtf(inv_b)));
        variation[blockIdx.x] = 0.5f * diff;
    }
}

int main() {
    const size_t bytes_a = ROWS * BINS * sizeof(int);
    const size_t hellinger_bytes = ROWS * sizeof(float);
    std::vector<int> h_a(ROWS * BINS);
    std::vector<int> h_b(ROWS * BINS);
    std::vector<float> h_hellinger(ROWS);
    std::vector<float> h_variation(ROWS);
    get_tensor("data/a.bin", h_a.data(), bytes_a);
    get_tensor("data/b.bin", h_b.data(), bytes_a);

    int *dev_a, *dev_b;
    float *dev_hellinger, *dev_variation;
    cudaMalloc(&dev_a, bytes_a);
    cudaMalloc(&dev_b, bytes_a);
    cudaMalloc(&dev_hellinger, hellinger_bytes);
    cudaMalloc(&dev_variation, hellinger_bytes);
    cudaMemcpy(dev_a, h_a.data(), bytes_a, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_b, h_b.data(), bytes_a, cudaMemcpyHostToDevice);

    histogram_distances_128<<<ROWS, 128>>>(dev_a, dev_b, dev_hellinger, dev_variation);

    cudaMemcpy(h_hellinger.data(), dev_hellinger, hellinger_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_variation.data(), dev_variation, hellinger_bytes, cudaMemcpyDeviceToHost);
    put_tensor("data/hellinger.bin", h_hellinger.data(), hellinger_bytes);
    put_tensor("data/variation.bin", h_variation.data(), hellinger_bytes);

    cudaFree(dev_a);
    cudaFree(dev_b);
    cudaFree(dev_hellinger);
    cudaFree(dev_variation);
    return 0;
}
