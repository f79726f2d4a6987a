#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define N 16000

#define CK(expr)                                                                               \
    do {                                                                                       \
        cudaError_t err = expr;                                                                \
        if (err != cudaSuccess) {                                                              \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(err)); \
            return 1;                                                                          \
        }                                                                                      \
    } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

// Digit by digit, two bits of the value at a time.
__global__ void isqrt(const unsigned int* value, unsigned int* root, unsigned int* rest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int v = value[i];
    unsigned int s = 0;
    for (unsigned int bit = 1u << 30; bit != 0; bit >>= 2) {
        if (v >= s + bit) {
            v -= s + bit;
            s = (s >> 1) + bit;
        } else {
            s >>= 1;
        }
    }
    root[i] = s;
    rest[i] = v;
}

int main(void) {
    unsigned int* host_value = (unsigned int*)malloc(N * sizeof(unsigned int));
    unsigned int* host_root = (unsigned int*)malloc(N * sizeof(unsigned int));
    unsigned int* host_rest = (unsigned int*)malloc(N * sizeof(unsigned int));
    read_file("data/value.bin", host_value, N * sizeof(unsigned int));

    unsigned int *dev_value = nullptr, *dev_root = nullptr, *dev_rest = nullptr;
    CK(cudaMalloc(&dev_value, N * sizeof(unsigned int)));
    CK(cudaMalloc(&dev_root, N * sizeof(unsigned int)));
    CK(cudaMalloc(&dev_rest, N * sizeof(unsigned int)));
    CK(cudaMemcpy(dev_value, host_value, N * sizeof(unsigned int), cudaMemcpyHostToDevice));

    const int threads = 256;
    isqrt<<<(N + threads - 1) / threads, threads>>>(dev_value, dev_root, dev_rest, N);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(host_root, dev_root, N * sizeof(unsigned int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(host_rest, dev_rest, N * sizeof(unsigned int), cudaMemcpyDeviceToHost));

    write_file("data/root.bin", host_root, N * sizeof(unsigned int));
    write_file("data/rest.bin", host_rest, N * sizeof(unsigned int));

    cudaFree(dev_value);
    cudaFree(dev_root);
    cudaFree(dev_rest);
    free(host_value);
    free(host_root);
    free(host_rest);
    return 0;
}
