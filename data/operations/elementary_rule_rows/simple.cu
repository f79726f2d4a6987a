#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t rc = (call); \
    if (rc != cudaSuccess) { \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc)); \
        exit(1); } \
    } while (0)

#define ROWS 64
#define WIDTH 200
#define GENERATIONS 10

__global__ void generation(const unsigned char* cells, const int* rule, unsigned char* next) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (x >= WIDTH) return;
    const unsigned char* s = cells + (size_t)row * WIDTH;
    int left = s[x == 0 ? WIDTH - 1 : x - 1];
    int right = s[x == WIDTH - 1 ? 0 : x + 1];
    next[(size_t)row * WIDTH + x] = (rule[row] >> (4 * left + 2 * s[x] + right)) & 1;
}

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main(void) {
    const int count = ROWS * WIDTH;
    unsigned char* h_cells = (unsigned char*)malloc(count * sizeof(unsigned char));
    int* h_rule = (int*)malloc(ROWS * sizeof(int));
    unsigned char* h_evolved = (unsigned char*)malloc(count * sizeof(unsigned char));

    load_bin("data/cells.bin", h_cells, count * sizeof(unsigned char));
    load_bin("data/rule.bin", h_rule, ROWS * sizeof(int));

    unsigned char* d_cells;
    int* d_rule;
    unsigned char* d_evolved;
    unsigned char* d_spare;
    CHECK(cudaMalloc(&d_cells, count * sizeof(unsigned char)));
    CHECK(cudaMalloc(&d_rule, ROWS * sizeof(int)));
    CHECK(cudaMalloc((void**)&d_evolved, count * sizeof(unsigned char)));
    CHECK(cudaMalloc((void**)&d_spare, count * sizeof(unsigned char)));
    CHECK(cudaMemcpy(d_cells, h_cells, count * sizeof(unsigned char), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_rule, h_rule, ROWS * sizeof(int), cudaMemcpyHostToDevice));

    dim3 grid((WIDTH + 255) / 256, ROWS);
    const unsigned char* now = d_cells;
    for (int g = 0; g < GENERATIONS; ++g) {
        unsigned char* next = (GENERATIONS - g) % 2 == 1 ? d_evolved : d_spare;
        generation<<<grid, 256>>>(now, d_rule, next);
        now = next;
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpy(h_evolved, d_evolved, count * sizeof(unsigned char), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/evolved.bin", "wb");
    if (!out || fwrite(h_evolved, sizeof(unsigned char), count, out) != (size_t)count) {
        fprintf(stderr, "could not write data/evolved.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_cells);
    cudaFree(d_rule);
    cudaFree(d_evolved);
    cudaFree(d_spare);
    free(h_cells);
    free(h_rule);
    free(h_evolved);
    return 0;
}
