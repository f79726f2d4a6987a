#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ROWS 40
#define COLS 100

#define CK(x)                                                                             \
    do {                                                                                  \
        cudaError_t code = (x);                                                           \
        if (code != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code)); \
            exit(EXIT_FAILURE);                                                           \
        }                                                                                 \
    } while (0)

__global__ void lehmer(const int* perms, int* codes, int* inversions) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= ROWS * COLS) return;
    int r = k / COLS, i = k % COLS;
    const int* row = perms + r * COLS;
    int smaller = 0;
    for (int j = i + 1; j < COLS; ++j) {
        if (row[j] < row[i]) ++smaller;
    }
    codes[k] = smaller;
    atomicAdd(&inversions[r], smaller);
}

int main(void) {
    const size_t numel = (size_t)ROWS * COLS;
    int* h_perms = (int*)malloc(numel * sizeof(int));
    int* h_codes = (int*)malloc(numel * sizeof(int));
    int* h_inversions = (int*)malloc(ROWS * sizeof(int));

    FILE* fp = fopen("data/perms.bin", "rb");
    if (!fp || fread(h_perms, sizeof(int), numel, fp) != numel) {
        fprintf(stderr, "cannot read data/perms.bin\n");
        return 1;
    }
    fclose(fp);

    int *d_perms, *d_codes, *d_inversions;
    CK(cudaMalloc(&d_perms, numel * sizeof(int)));
    CK(cudaMalloc(&d_codes, numel * sizeof(int)));
    CK(cudaMalloc(&d_inversions, ROWS * sizeof(int)));
    CK(cudaMemcpy(d_perms, h_perms, numel * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemset(d_inversions, 0, ROWS * sizeof(int)));

    lehmer<<<(ROWS * COLS + 256 - 1) / 256, 256>>>(d_perms, d_codes, d_inversions);
    CK(cudaGetLastError());
    CK(cudaMemcpy(h_codes, d_codes, numel * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(h_inversions, d_inversions, ROWS * sizeof(int), cudaMemcpyDeviceToHost));

    fp = fopen("data/codes.bin", "wb");
    if (!fp) return 1;
    fwrite(h_codes, sizeof(int), numel, fp);
    fclose(fp);
    fp = fopen("data/inversions.bin", "wb");
    if (!fp) return 1;
    fwrite(h_inversions, sizeof(int), ROWS, fp);
    fclose(fp);

    cudaFree(d_perms);
    cudaFree(d_codes);
    cudaFree(d_inversions);
    free(h_perms);
    free(h_codes);
    free(h_inversions);
    return 0;
}
