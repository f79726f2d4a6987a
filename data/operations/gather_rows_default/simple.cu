#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ENTRIES 100
#define DIM 50
#define LOOKUPS 300

#define CHECK(call)                                                                           \
    do {                                                                                      \
        cudaError_t err = (call);                                                             \
        if (err != cudaSuccess) {                                                             \
            fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(err), __LINE__); \
            exit(EXIT_FAILURE);                                                               \
        }                                                                                     \
    } while (0)

__global__ void gather_rows(const float* table, const int* ids, const float* fallback, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LOOKUPS * DIM) return;
    int row = i / DIM;
    int col = i % DIM;
    int id = ids[row];
    out[i] = (id >= 0 && id < ENTRIES) ? table[(size_t)id * DIM + col] : fallback[col];
}

int main() {
    const size_t table_len = size_t(ENTRIES) * DIM;
    const size_t out_len = size_t(LOOKUPS) * DIM;
    float* host_table = (float*)malloc(table_len * sizeof(float));
    int* host_ids = (int*)malloc(LOOKUPS * sizeof(int));
    float* host_fallback = (float*)malloc(DIM * sizeof(float));
    float* host_out = (float*)malloc(out_len * sizeof(float));

    FILE* file = fopen("data/table.bin", "rb");
    if (!file || fread(host_table, sizeof(float), table_len, file) != table_len) {
        fprintf(stderr, "cannot read data/table.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/ids.bin", "rb");
    if (!file || fread(host_ids, sizeof(int), LOOKUPS, file) != (size_t)LOOKUPS) {
        fprintf(stderr, "cannot read data/ids.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/fallback.bin", "rb");
    if (!file || fread(host_fallback, sizeof(float), DIM, file) != (size_t)DIM) {
        fprintf(stderr, "cannot read data/fallback.bin\n");
        return 1;
    }
    fclose(file);

    float *d_table, *d_fallback, *d_out;
    int *d_ids;
    CHECK(cudaMalloc(&d_table, table_len * sizeof(float)));
    CHECK(cudaMalloc(&d_ids, LOOKUPS * sizeof(int)));
    CHECK(cudaMalloc(&d_fallback, DIM * sizeof(float)));
    CHECK(cudaMalloc(&d_out, out_len * sizeof(float)));

    CHECK(cudaMemcpy(d_table, host_table, table_len * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_ids, host_ids, LOOKUPS * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_fallback, host_fallback, DIM * sizeof(float), cudaMemcpyHostToDevice));

    int threads = 256;
    int blocks = (LOOKUPS * DIM + threads - 1) / threads;
    gather_rows<<<blocks, threads>>>(d_table, d_ids, d_fallback, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host_out, d_out, out_len * sizeof(float), cudaMemcpyDeviceToHost));

    FILE* dst_file = fopen("data/out.bin", "wb");
    if (!dst_file || fwrite(host_out, sizeof(float), out_len, dst_file) != out_len) {
        fprintf(stderr, "cannot write data/out.bin\n");
        return 1;
    }
    fclose(dst_file);

    cudaFree(d_table);
    cudaFree(d_ids);
    cudaFree(d_fallback);
    cudaFree(d_out);
    free(host_table);
    free(host_ids);
    free(host_fallback);
    free(host_out);
    return 0;
}
