#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void loadTensor(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void saveTensor(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

const int N = 5000;
const int BLOCK = 256;
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// Two tables in shared memory give the short code (low byte) and the loss (high byte) of every channel value.
__global__ void to_rgb565_tables(const uint8_t* __restrict__ rgb, uint16_t* __restrict__ packed,
                                 int* __restrict__ error) {
    __shared__ uint16_t five[256], six[256];
    const int v = threadIdx.x;
    const int q5 = (v * 31 + 127) / 255, q6 = (v * 63 + 127) / 255;
    five[v] = (uint16_t)(q5 | (abs(v - ((q5 << 3) | (q5 >> 2))) << 8));
    six[v] = (uint16_t)(q6 | (abs(v - ((q6 << 2) | (q6 >> 4))) << 8));
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        const uint8_t* p = rgb + 3 * (size_t)i;
        const int r = five[p[0]], g = six[p[1]], b = five[p[2]];
        packed[i] = (uint16_t)(((r & 31) << 11) | ((g & 63) << 5) | (b & 31));
        error[i] = (r >> 8) + (g >> 8) + (b >> 8);
    }
}

int main() {
    const size_t count = (size_t)N * 3;
    const size_t bytes_rgb = count * sizeof(uint8_t);
    const size_t bytes_packed = N * sizeof(uint16_t);
    const size_t bytes_error = N * sizeof(int);
    uint8_t* h_rgb = (uint8_t*)malloc(bytes_rgb);
    uint16_t* h_packed = (uint16_t*)malloc(bytes_packed);
    int* h_error = (int*)malloc(bytes_error);
    loadTensor("data/rgb.bin", h_rgb, bytes_rgb);

    uint8_t *d_rgb;
    uint16_t *d_packed;
    int *d_error;
    cudaMalloc(&d_rgb, bytes_rgb);
    cudaMalloc(&d_packed, bytes_packed);
    cudaMalloc(&d_error, bytes_error);
    cudaMemcpy(d_rgb, h_rgb, bytes_rgb, cudaMemcpyHostToDevice);

    const int blocks = CEIL_DIV(N, BLOCK);
    to_rgb565_tables<<<min(blocks, 1500), BLOCK>>>(d_rgb, d_packed, d_error);

    cudaMemcpy(h_packed, d_packed, bytes_packed, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_error, d_error, bytes_error, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    saveTensor("data/packed.bin", h_packed, bytes_packed);
    saveTensor("data/error.bin", h_error, bytes_error);

    cudaFree(d_rgb);
    cudaFree(d_packed);
    cudaFree(d_error);
    free(h_rgb);
    free(h_packed);
    free(h_error);
    return 0;
}
