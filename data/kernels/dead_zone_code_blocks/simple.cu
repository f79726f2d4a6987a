#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void quantise(const float* w, const int* exponent, int* q, int* planes, int blockRows, int blockCols) {
    int e = blockIdx.x * blockDim.x + threadIdx.x, width = 32 * blockCols;
    if (e >= 32 * blockRows * width) return;
    int block = e / width / 32 * blockCols + e % width / 32;
    float scaled = w[e] / exp2f(exponent[block]);
    q[e] = (int)scaled;  // towards zero
    int bits = 0;
    for (int m = abs(q[e]); m > 0; m /= 2) ++bits;
    atomicMax(&planes[block], bits);
}

static void require(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void gpu(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

static void* managed(size_t bytes) {
    void* pointer;
    gpu(cudaMallocManaged(&pointer, bytes));
    return pointer;
}

static void readInto(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    require(f && fread(data, 1, bytes, f) == bytes && fgetc(f) == EOF, path);
    fclose(f);
}

static void writeFrom(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    require(f && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0, path);
}

int main() {
    int sizes[2];
    readInto("data/sizes.bin", sizes, sizeof(sizes));
    int rows = sizes[0], cols = sizes[1];
    require(rows >= 1 && rows <= 256 && cols >= 1 && cols <= 256, "data/sizes.bin: out of range");
    size_t blocks = (size_t)rows * cols, count = blocks * 1024;
    float* w = (float*)managed(count * 4);
    int* exponent = (int*)managed(blocks * 4);
    int* q = (int*)managed(count * 4);
    int* planes = (int*)managed(blocks * 4);
    readInto("data/w.bin", w, count * 4);
    readInto("data/exponent.bin", exponent, blocks * 4);
    for (size_t b = 0; b < blocks; ++b) {
        require(exponent[b] >= -8 && exponent[b] <= 8, "data/exponent.bin: out of range");
        planes[b] = 0;
    }
    quantise<<<(count + 255) / 256, 256>>>(w, exponent, q, planes, rows, cols);
    gpu(cudaGetLastError());
    gpu(cudaDeviceSynchronize());
    writeFrom("data/q.bin", q, count * 4);
    writeFrom("data/planes.bin", planes, blocks * 4);
    gpu(cudaFree(w));
    gpu(cudaFree(exponent));
    gpu(cudaFree(q));
    gpu(cudaFree(planes));
    return 0;
}
