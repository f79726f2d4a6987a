#include <cstdlib>
#include <cstdio>
#include <cuda_runtime.h>

#define CUDA_OK(call) \
    do { \
        cudaError_t status_ = (call); \
        if (status_ != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void get_file(const char* path, void* dst, size_t bytes) {
    FILE* fp = fopen(path, "rb");
    if (!fp || fread(dst, 1, bytes, fp) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(fp);
}

static void put_file(const char* path, const void* src, size_t bytes) {
    FILE* fp = fopen(path, "wb");
    if (!fp || fwrite(src, 1, bytes, fp) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(fp);
}

#define ROWS 500
#define ENTRIES 6000

__global__ void equilibrate(const int* row_start, const float* value, float* scaled, float* scale) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    int begin = row_start[r], end = row_start[r + 1];
    float largest = 0.0f;
    for (int k = begin; k < end; ++k) largest = fmaxf(largest, fabsf(value[k]));
    if (largest == 0.0f) largest = 1.0f;
    scale[r] = largest;
    for (int k = begin; k < end; ++k) scaled[k] = value[k] / largest;
}

int main(void) {
    int* row_start_h = (int*)malloc((ROWS + 1) * sizeof(int));
    float* value_h = (float*)malloc(ENTRIES * sizeof(float));
    float* scaled_h = (float*)malloc(ENTRIES * sizeof(float));
    float* scale_h = (float*)malloc(ROWS * sizeof(float));
    get_file("data/row_start.bin", row_start_h, (ROWS + 1) * sizeof(int));
    get_file("data/value.bin", value_h, ENTRIES * sizeof(float));

    int* row_start_d = nullptr;
    float* value_d = nullptr;
    float* scaled_d = nullptr;
    float* scale_d = nullptr;
    CUDA_OK(cudaMalloc(&row_start_d, (ROWS + 1) * sizeof(int)));
    CUDA_OK(cudaMemcpy(row_start_d, row_start_h, (ROWS + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMalloc(&value_d, ENTRIES * sizeof(float)));
    CUDA_OK(cudaMemcpy(value_d, value_h, ENTRIES * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMalloc(&scaled_d, ENTRIES * sizeof(float)));
    CUDA_OK(cudaMalloc(&scale_d, ROWS * sizeof(float)));

    equilibrate<<<(ROWS + 127) / 128, 128>>>(row_start_d, value_d, scaled_d, scale_d);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(scaled_h, scaled_d, ENTRIES * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(scale_h, scale_d, ROWS * sizeof(float), cudaMemcpyDeviceToHost));

    put_file("data/scaled.bin", scaled_h, ENTRIES * sizeof(float));
    put_file("data/scale.bin", scale_h, ROWS * sizeof(float));

    cudaFree(row_start_d);
    cudaFree(value_d);
    cudaFree(scaled_d);
    cudaFree(scale_d);
    free(row_start_h);
    free(value_h);
    free(scaled_h);
    free(scale_h);
}
