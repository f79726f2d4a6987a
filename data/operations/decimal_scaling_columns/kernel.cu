#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define RECORDS 500
#define FIELDS 60

#define CHECK(expr)                                                     \
    if (cudaError_t status = (expr)) {                                        \
        fprintf(stderr, "%s failed: %s\n", #expr, cudaGetErrorString(status)); \
        return 1;                                                          \
    }

constexpr int kSlices = 64;

// Non-negative floats compare like their bit patterns, so maxima can be merged with an integer atomicMax.
__global__ void column_peaks(const float* __restrict__ table, int* __restrict__ peak_bits) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= FIELDS) return;
    float m = 0.0f;
    for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < RECORDS; r += kSlices * blockDim.y)
        m = fmaxf(m, fabsf(table[(size_t)r * FIELDS + f]));
    atomicMax(&peak_bits[f], __float_as_int(m));
}

__global__ void scale_columns(const float* __restrict__ table, const int* __restrict__ peak_bits,
                              float* __restrict__ scaled, int* __restrict__ digits) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= FIELDS) return;
    float peak = __int_as_float(peak_bits[f]);
    int j = 0;
    float power = 1.0f;
    for (; peak >= power; power *= 10.0f) ++j;
    int first = blockIdx.y * blockDim.y + threadIdx.y;
    if (first == 0) digits[f] = j;
    for (int r = first; r < RECORDS; r += kSlices * blockDim.y)
        scaled[(size_t)r * FIELDS + f] = table[(size_t)r * FIELDS + f] / power;
}

int main() {
    const size_t table_size = (size_t)RECORDS * FIELDS;
    float* table = (float*)malloc(table_size * sizeof(float));
    float* scaled = (float*)malloc(table_size * sizeof(float));
    int* digits = (int*)malloc(FIELDS * sizeof(int));

    FILE* file;
    file = fopen("data/table.bin", "rb");
    if (!file || fread(table, sizeof(float), table_size, file) != table_size) {
        fprintf(stderr, "cannot read data/table.bin\n");
        return 1;
    }
    fclose(file);

    float *d_table, *d_scaled;
    int *d_digits, *d_peak_bits;
    CHECK(cudaMalloc(&d_table, table_size * sizeof(float)));
    CHECK(cudaMalloc(&d_scaled, table_size * sizeof(float)));
    CHECK(cudaMalloc(&d_digits, FIELDS * sizeof(int)));
    CHECK(cudaMalloc(&d_peak_bits, FIELDS * sizeof(int)));
    CHECK(cudaMemcpy(d_table, table, table_size * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_peak_bits, 0, FIELDS * sizeof(int)));

    dim3 block(32, 8);
    dim3 grid((FIELDS + 32 - 1) / 32, kSlices);
    column_peaks<<<grid, block>>>(d_table, d_peak_bits);
    scale_columns<<<grid, block>>>(d_table, d_peak_bits, d_scaled, d_digits);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(scaled, d_scaled, table_size * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(digits, d_digits, FIELDS * sizeof(int), cudaMemcpyDeviceToHost));
    file = fopen("data/scaled.bin", "wb");
    if (!file || fwrite(scaled, sizeof(float), table_size, file) != table_size) {
        fprintf(stderr, "cannot write data/scaled.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/digits.bin", "wb");
    if (!file || fwrite(digits, sizeof(int), FIELDS, file) != FIELDS) {
        fprintf(stderr, "cannot write data/digits.bin\n");
        return 1;
    }
    fclose(file);

    cudaFree(d_table);
    cudaFree(d_scaled);
    cudaFree(d_digits);
    cudaFree(d_peak_bits);
    free(table);
    free(scaled);
    free(digits);
    return 0;
}
