#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CK(call) \
    do { \
        cudaError_t code = (call); \
        if (code != cudaSuccess) { \
            fprintf(stderr, "CUDA: %s (%s:%d)\n", cudaGetErrorString(code), __FILE__, __LINE__); \
            exit(1); \
        } \
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

#define ROWS 40
#define COLS 300
#define BLOCK 256

// Hillis-Steele scan of maps in shared memory, 256 columns of one row at a time.
__global__ void compose_block(const unsigned int* __restrict__ a, const unsigned int* __restrict__ b,
                              unsigned int* __restrict__ pa, unsigned int* __restrict__ pb) {
    __shared__ uint2 maps[BLOCK];
    size_t base = (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    uint2 carry = make_uint2(1u, 0u);
    for (int start = 0; start < COLS; start += BLOCK) {
        int c = start + t;
        uint2 own = make_uint2(1u, 0u);
        if (c < COLS) own = make_uint2(a[base + c], b[base + c]);
        maps[t] = own;
        __syncthreads();
        for (int s = 1; s < BLOCK; s *= 2) {
            uint2 left = make_uint2(1u, 0u);
            if (t >= s) left = maps[t - s];
            __syncthreads();
            own.y = own.x * left.y + own.y;
            own.x = own.x * left.x;
            maps[t] = own;
            __syncthreads();
        }
        if (c < COLS) {
            pa[base + c] = own.x * carry.x;
            pb[base + c] = own.x * carry.y + own.y;
        }
        uint2 last = maps[BLOCK - 1];
        carry = make_uint2(last.x * carry.x, last.x * carry.y + last.y);
        __syncthreads();
    }
}

int main() {
    const int total = ROWS * COLS;
    unsigned int* a = (unsigned int*)malloc(total * sizeof(unsigned int));
    unsigned int* b = (unsigned int*)malloc(total * sizeof(unsigned int));
    unsigned int* pa = (unsigned int*)malloc(total * sizeof(unsigned int));
    unsigned int* pb = (unsigned int*)malloc(total * sizeof(unsigned int));
    read_file("data/a.bin", a, total * sizeof(unsigned int));
    read_file("data/b.bin", b, total * sizeof(unsigned int));

    unsigned int* dev_a;
    unsigned int* dev_b;
    unsigned int* dev_pa;
    unsigned int* dev_pb;
    CK(cudaMalloc(&dev_a, total * sizeof(unsigned int)));
    CK(cudaMalloc(&dev_b, total * sizeof(unsigned int)));
    CK(cudaMalloc(&dev_pa, total * sizeof(unsigned int)));
    CK(cudaMalloc(&dev_pb, total * sizeof(unsigned int)));
    CK(cudaMemcpy(dev_a, a, total * sizeof(unsigned int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dev_b, b, total * sizeof(unsigned int), cudaMemcpyHostToDevice));

    compose_block<<<ROWS, BLOCK>>>(dev_a, dev_b, dev_pa, dev_pb);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(pa, dev_pa, total * sizeof(unsigned int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(pb, dev_pb, total * sizeof(unsigned int), cudaMemcpyDeviceToHost));

    write_file("data/pa.bin", pa, total * sizeof(unsigned int));
    write_file("data/pb.bin", pb, total * sizeof(unsigned int));

    cudaFree(dev_a);
    cudaFree(dev_b);
    cudaFree(dev_pa);
    cudaFree(dev_pb);
    free(a);
    free(b);
    free(pa);
    free(pb);
    return 0;
}
