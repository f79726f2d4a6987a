#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void read_raw(const char* path, void* dst, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(dst, 1, bytes, file) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(file);
}

static void write_raw(const char* path, const void* src, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(src, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(file);
}

const int NODES = 500;
const int ENTRIES = 3000;
const int WALKS = 300;
const int STEPS = 12;

__global__ void walk(const int* row_start, const int* neighbor, const int* origin, const float* draw,
        int* path) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= WALKS) return;
    int v = origin[w];
    for (int t = 0; t < STEPS; ++t) {
        int begin = row_start[v];
        int d = row_start[v + 1] - begin;
        if (d > 0) {
            int k = (int)(draw[t * WALKS + w] * (float)d);
            if (k > d - 1) k = d - 1;
            v = neighbor[begin + k];
        }
        path[t * WALKS + w] = v;
    }
}

int main(void) {
    int* host_row_start = (int*)malloc((NODES + 1) * sizeof(int));
    int* host_neighbor = (int*)malloc(ENTRIES * sizeof(int));
    int* host_origin = (int*)malloc(WALKS * sizeof(int));
    float* host_draw = (float*)malloc(STEPS * WALKS * sizeof(float));
    int* host_path = (int*)malloc(STEPS * WALKS * sizeof(int));
    read_raw("data/row_start.bin", host_row_start, (NODES + 1) * sizeof(int));
    read_raw("data/neighbor.bin", host_neighbor, ENTRIES * sizeof(int));
    read_raw("data/origin.bin", host_origin, WALKS * sizeof(int));
    read_raw("data/draw.bin", host_draw, STEPS * WALKS * sizeof(float));

    int *row_start_d, *neighbor_d, *origin_d, *path_d;
    float *draw_d;
    CUDA_CHECK(cudaMalloc(&row_start_d, (NODES + 1) * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&neighbor_d, ENTRIES * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&origin_d, WALKS * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&draw_d, STEPS * WALKS * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&path_d, STEPS * WALKS * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(row_start_d, host_row_start, (NODES + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(neighbor_d, host_neighbor, ENTRIES * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(origin_d, host_origin, WALKS * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(draw_d, host_draw, STEPS * WALKS * sizeof(float), cudaMemcpyHostToDevice));

    walk<<<(WALKS + 127) / 128, 128>>>(row_start_d, neighbor_d, origin_d, draw_d, path_d);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(host_path, path_d, STEPS * WALKS * sizeof(int), cudaMemcpyDeviceToHost));

    write_raw("data/path.bin", host_path, STEPS * WALKS * sizeof(int));

    cudaFree(row_start_d);
    cudaFree(neighbor_d);
    cudaFree(origin_d);
    cudaFree(draw_d);
    cudaFree(path_d);
    free(host_row_start);
    free(host_neighbor);
    free(host_origin);
    free(host_draw);
    free(host_path);
    return 0;
}
