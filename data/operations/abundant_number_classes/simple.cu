#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_file(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_file(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define N 3000
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void classify(const int* values, int* aliquot, signed char* kind) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int v = values[i];
    int sum = v > 1 ? 1 : 0;
    for (int d = 2; d * d <= v; ++d) {
        if (v % d == 0) {
            sum += d;
            if (d * d != v) sum += v / d;
        }
    }
    aliquot[i] = sum;
    kind[i] = sum < v ? -1 : (sum > v ? 1 : 0);
}

int main() {
    const size_t bytes_values = N * sizeof(int);
    const size_t bytes_aliquot = N * sizeof(int);
    const size_t bytes_kind = N * sizeof(signed char);
    int* h_values = (int*)malloc(bytes_values);
    int* h_aliquot = (int*)malloc(bytes_aliquot);
    signed char* h_kind = (signed char*)malloc(bytes_kind);
    read_file("data/values.bin", h_values, bytes_values);

    int *d_values, *d_aliquot;
    signed char *d_kind;
    cudaMalloc(&d_values, bytes_values);
    cudaMalloc(&d_aliquot, bytes_aliquot);
    cudaMalloc(&d_kind, bytes_kind);
    cudaMemcpy(d_values, h_values, bytes_values, cudaMemcpyHostToDevice);

    int threads = 256;
    classify<<<DIV_UP(N, threads), threads>>>(d_values, d_aliquot, d_kind);

    cudaMemcpy(h_aliquot, d_aliquot, bytes_aliquot, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kind, d_kind, bytes_kind, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    write_file("data/aliquot.bin", h_aliquot, bytes_aliquot);
    write_file("data/kind.bin", h_kind, bytes_kind);

    cudaFree(d_values);
    cudaFree(d_aliquot);
    cudaFree(d_kind);
    free(h_values);
    free(h_aliquot);
    free(h_kind);
    return 0;
}
