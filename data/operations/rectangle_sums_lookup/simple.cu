#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define HEIGHT 60
#define WIDTH 80
#define N_BOXES 3000

#define TRY(expr)                                                \
    do {                                                          \
        cudaError_t rc = expr;                                   \
        if (rc != cudaSuccess) {                                  \
            fprintf(stderr, "CUDA: %s (line %d)\n",              \
                    cudaGetErrorString(rc), __LINE__);           \
            exit(EXIT_FAILURE);                                  \
        }                                                         \
    } while (0)

__global__ void box_sums(const int* table, const int* boxes, int* total, float* mean) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N_BOXES) return;
    int y0 = min(max(boxes[4 * i], 0), HEIGHT);
    int x0 = min(max(boxes[4 * i + 1], 0), WIDTH);
    int y1 = min(max(boxes[4 * i + 2], 0), HEIGHT);
    int x1 = min(max(boxes[4 * i + 3], 0), WIDTH);
    if (y1 <= y0 || x1 <= x0) {
        total[i] = 0;
        mean[i] = 0.0f;
        return;
    }
    const int pitch = WIDTH + 1;
    int sum = table[y1 * pitch + x1] - table[y0 * pitch + x1] - table[y1 * pitch + x0] + table[y0 * pitch + x0];
    total[i] = sum;
    mean[i] = (float)sum / ((y1 - y0) * (x1 - x0));
}

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_raw(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == NULL || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main() {
    const size_t table_count = (size_t)(HEIGHT + 1) * (WIDTH + 1);
    const size_t boxes_count = (size_t)N_BOXES * 4;
    int* h_table = (int*)malloc(table_count * sizeof(int));
    int* h_boxes = (int*)malloc(boxes_count * sizeof(int));
    int* h_total = (int*)malloc(N_BOXES * sizeof(int));
    float* h_mean = (float*)malloc(N_BOXES * sizeof(float));

    read_file("data/table.bin", h_table, table_count * sizeof(int));
    read_file("data/boxes.bin", h_boxes, boxes_count * sizeof(int));

    int* dev_table;
    int* dev_boxes;
    int* dev_total;
    float* dev_mean;
    TRY(cudaMalloc(&dev_table, table_count * sizeof(int)));
    TRY(cudaMalloc(&dev_boxes, boxes_count * sizeof(int)));
    TRY(cudaMalloc(&dev_total, N_BOXES * sizeof(int)));
    TRY(cudaMalloc(&dev_mean, N_BOXES * sizeof(float)));
    TRY(cudaMemcpy(dev_table, h_table, table_count * sizeof(int), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(dev_boxes, h_boxes, boxes_count * sizeof(int), cudaMemcpyHostToDevice));

    box_sums<<<(N_BOXES + 255) / 256, 256>>>(dev_table, dev_boxes, dev_total, dev_mean);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());

    TRY(cudaMemcpy(h_total, dev_total, N_BOXES * sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(h_mean, dev_mean, N_BOXES * sizeof(float), cudaMemcpyDeviceToHost));
    write_raw("data/total.bin", h_total, N_BOXES * sizeof(int));
    write_raw("data/mean.bin", h_mean, N_BOXES * sizeof(float));

    cudaFree(dev_table);
    cudaFree(dev_boxes);
    cudaFree(dev_total);
    cudaFree(dev_mean);
    free(h_table);
    free(h_boxes);
    free(h_total);
    free(h_mean);
    return 0;
}
