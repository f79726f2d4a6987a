#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECK(call) \
    do { \
        cudaError_t rc_ = (call); \
        if (rc_ != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc_)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void fetch(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void dump(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

#define ROWS 70
#define COLS 300

__global__ void half_total(const int* counts, int* position, long long* total) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const int* row = counts + (size_t)r * COLS;
    long long sum = 0;
    for (int c = 0; c < COLS; ++c) sum += row[c];
    long long running = 0;
    int p = 0;
    for (int c = 0; c < COLS; ++c) {
        running += row[c];
        if (2 * running >= sum) {
            p = c;
            break;
        }
    }
    position[r] = p;
    total[r] = sum;
}

int main() {
    const int size = ROWS * COLS;
    int* h_counts = (int*)malloc(size * sizeof(int));
    int* h_position = (int*)malloc(ROWS * sizeof(int));
    long long* h_total = (long long*)malloc(ROWS * sizeof(long long));
    fetch("data/counts.bin", h_counts, size * sizeof(int));

    int *d_counts, *d_position;
    long long* d_total;
    CHECK(cudaMalloc(&d_counts, size * sizeof(int)));
    CHECK(cudaMalloc(&d_position, ROWS * sizeof(int)));
    CHECK(cudaMalloc(&d_total, ROWS * sizeof(long long)));
    CHECK(cudaMemcpy(d_counts, h_counts, size * sizeof(int), cudaMemcpyHostToDevice));

    half_total<<<(ROWS + 64 - 1) / 64, 64>>>(d_counts, d_position, d_total);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h_position, d_position, ROWS * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(h_total, d_total, ROWS * sizeof(long long), cudaMemcpyDeviceToHost));

    dump("data/position.bin", h_position, ROWS * sizeof(int));
    dump("data/total.bin", h_total, ROWS * sizeof(long long));

    cudaFree(d_counts);
    cudaFree(d_position);
    cudaFree(d_total);
    free(h_counts);
    free(h_position);
    free(h_total);
    return 0;
}
