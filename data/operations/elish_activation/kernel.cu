#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CK(call) do { cudaError_t code = (call); if (code != cudaSuccess) { \
    fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(code)); exit(EXIT_FAILURE); } } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "error writing %s\n", path);
        exit(1);
    }
    fclose(f);
}

#define ROWS 35
#define COLS 350

__global__ void elish_by_row(const float* __restrict__ x, const float* __restrict__ shift, float* __restrict__ y) {
    for (int r = blockIdx.x; r < ROWS; r += gridDim.x) {
        const size_t base = (size_t)r * COLS;
        for (int c = threadIdx.x; c < COLS; c += blockDim.x) {
            const float v = x[base + c] + shift[c];
            // with e = exp(-|v|): sigmoid(v) is 1 / (1 + e) for v >= 0 and e / (1 + e) below
            const float e = expf(-fabsf(v));
            const float top = v >= 0.0f ? v : (e - 1.0f) * e;
            y[base + c] = top / (1.0f + e);
        }
    }
}

int main() {
    const size_t count = ROWS * COLS;
    float* x = (float*)malloc(count * sizeof(float));
    float* shift = (float*)malloc(COLS * sizeof(float));
    float* y = (float*)malloc(count * sizeof(float));
    read_file("data/x.bin", x, count * sizeof(float));
    read_file("data/shift.bin", shift, COLS * sizeof(float));

    float *d_x, *d_shift, *d_y;
    CK(cudaMalloc(&d_x, count * sizeof(float)));
    CK(cudaMalloc(&d_shift, COLS * sizeof(float)));
    CK(cudaMalloc(&d_y, count * sizeof(float)));
    CK(cudaMemcpy(d_x, x, count * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d_shift, shift, COLS * sizeof(float), cudaMemcpyHostToDevice));

    elish_by_row<<<min(ROWS, 1024), 256>>>(d_x, d_shift, d_y);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(y, d_y, count * sizeof(float), cudaMemcpyDeviceToHost));

    write_file("data/y.bin", y, count * sizeof(float));

    cudaFree(d_y);
    cudaFree(d_shift);
    cudaFree(d_x);
    free(x);
    free(shift);
    free(y);
    return 0;
}
