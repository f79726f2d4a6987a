#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define N 3000

#define CK(x)                                                                          \
    do {                                                                               \
        cudaError_t e = (x);                                                           \
        if (e != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
            exit(EXIT_FAILURE);                                                        \
        }                                                                              \
    } while (0)

__device__ int divide_out(unsigned int& rest, unsigned int p, unsigned int& first) {
    int times = 0;
    unsigned int q = rest / p;
    while (q * p == rest) {
        rest = q;
        q = rest / p;
        ++times;
    }
    if (times > 0 && first == 1u) first = p;
    return times;
}

// After 2 and 3 only numbers of the form 6k - 1 and 6k + 1 can be prime.
__global__ void factorize_wheel(const int* __restrict__ numbers, int* __restrict__ smallest,
                                int* __restrict__ factor_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    unsigned int rest = numbers[i], first = 1;
    int count = __ffs((int)rest) - 1;
    rest >>= count;
    if (count > 0) first = 2;
    count += divide_out(rest, 3, first);
    for (unsigned int p = 5; p * p <= rest; p += 6) {
        count += divide_out(rest, p, first);
        count += divide_out(rest, p + 2, first);
    }
    if (rest > 1) {
        if (first == 1u) first = rest;
        ++count;
    }
    smallest[i] = (int)first;
    factor_count[i] = count;
}

int main() {
    int* h_numbers = (int*)malloc(N * sizeof(int));
    int* h_smallest = (int*)malloc(N * sizeof(int));
    int* h_factor_count = (int*)malloc(N * sizeof(int));

    FILE* f = fopen("data/numbers.bin", "rb");
    if (!f || fread(h_numbers, sizeof(int), N, f) != (size_t)N) {
        fprintf(stderr, "cannot read data/numbers.bin\n");
        return 1;
    }
    fclose(f);

    int *d_numbers, *d_smallest, *d_factor_count;
    CK(cudaMalloc(&d_numbers, N * sizeof(int)));
    CK(cudaMalloc(&d_smallest, N * sizeof(int)));
    CK(cudaMalloc(&d_factor_count, N * sizeof(int)));
    CK(cudaMemcpy(d_numbers, h_numbers, N * sizeof(int), cudaMemcpyHostToDevice));

    const int block = 128;
    factorize_wheel<<<(N + block - 1) / block, block>>>(d_numbers, d_smallest, d_factor_count);
    CK(cudaGetLastError());
    CK(cudaMemcpy(h_smallest, d_smallest, N * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(h_factor_count, d_factor_count, N * sizeof(int), cudaMemcpyDeviceToHost));

    f = fopen("data/smallest.bin", "wb");
    if (!f) return 1;
    fwrite(h_smallest, sizeof(int), N, f);
    fclose(f);
    f = fopen("data/factor_count.bin", "wb");
    if (!f) return 1;
    fwrite(h_factor_count, sizeof(int), N, f);
    fclose(f);

    cudaFree(d_numbers);
    cudaFree(d_smallest);
    cudaFree(d_factor_count);
    free(h_numbers);
    free(h_smallest);
    free(h_factor_count);
    return 0;
}
