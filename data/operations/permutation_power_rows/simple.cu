#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define ROWS 20
#define ITEMS 500

#define CUDA_OK(x)                                                                      \
    do {                                                                                \
        cudaError_t err = (x);                                                          \
        if (err != cudaSuccess) {                                                       \
            printf("CUDA failure at line %d: %s\n", __LINE__, cudaGetErrorString(err)); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

__global__ void permutation_power(const int* permutation, const int* exponent, int* power) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (i >= ITEMS) return;
    const int* p = permutation + (size_t)r * ITEMS;
    int at = i;
    int e = exponent[r];
    for (int k = 0; k < e; k++) at = p[at];
    power[(size_t)r * ITEMS + i] = at;
}

int main() {
    const size_t count = (size_t)ROWS * ITEMS;
    int* h_permutation = (int*)malloc(count * sizeof(int));
    int* h_exponent = (int*)malloc(ROWS * sizeof(int));
    int* h_power = (int*)malloc(count * sizeof(int));

    FILE* file = fopen("data/permutation.bin", "rb");
    if (file == NULL || fread(h_permutation, 1, count * sizeof(int), file) != count * sizeof(int)) {
        fprintf(stderr, "failed to read data/permutation.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/exponent.bin", "rb");
    if (file == NULL || fread(h_exponent, 1, ROWS * sizeof(int), file) != ROWS * sizeof(int)) {
        fprintf(stderr, "failed to read data/exponent.bin\n");
        return 1;
    }
    fclose(file);

    int* d_permutation;
    CUDA_OK(cudaMalloc(&d_permutation, count * sizeof(int)));
    CUDA_OK(cudaMemcpy(d_permutation, h_permutation, count * sizeof(int), cudaMemcpyHostToDevice));
    int* d_exponent;
    CUDA_OK(cudaMalloc(&d_exponent, ROWS * sizeof(int)));
    CUDA_OK(cudaMemcpy(d_exponent, h_exponent, ROWS * sizeof(int), cudaMemcpyHostToDevice));
    int* d_power;
    CUDA_OK(cudaMalloc(&d_power, count * sizeof(int)));

    dim3 grid((ITEMS + 255) / 256, ROWS);
    permutation_power<<<grid, 256>>>(d_permutation, d_exponent, d_power);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(h_power, d_power, count * sizeof(int), cudaMemcpyDeviceToHost));

    FILE* out = fopen("data/power.bin", "wb");
    if (!out || fwrite(h_power, sizeof(int), count, out) != count) {
        fprintf(stderr, "cannot write data/power.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_permutation);
    cudaFree(d_exponent);
    cudaFree(d_power);
    free(h_permutation);
    free(h_exponent);
    free(h_power);
    return 0;
}
