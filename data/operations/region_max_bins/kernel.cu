#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

const int CHANNELS = 8;
const int HEIGHT = 40;
const int WIDTH = 60;
const int REGIONS = 50;

#define CUDA_CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(e), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

// One block a region: the bin borders are computed once, then the threads share channels and bins.
__global__ void roi_max_region(const float* __restrict__ features, const int* __restrict__ boxes,
                               float* __restrict__ pooled) {
    __shared__ int row_from[5], row_to[5], col_from[5], col_to[5];
    const int r = blockIdx.x;
    if (threadIdx.x < 5) {
        const int k = threadIdx.x;
        const int4 box = reinterpret_cast<const int4*>(boxes)[r];
        const int w = box.z - box.x + 1, h = box.w - box.y + 1;
        col_from[k] = box.x + k * w / 5;
        col_to[k] = box.x + ((k + 1) * w + 4) / 5;
        row_from[k] = box.y + k * h / 5;
        row_to[k] = box.y + ((k + 1) * h + 4) / 5;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < CHANNELS * 25; i += blockDim.x) {
        const int by = i / 5 % 5, bx = i % 5;
        const float* plane = features + (size_t)(i / 25) * HEIGHT * WIDTH;
        float best = plane[row_from[by] * WIDTH + col_from[bx]];
        for (int y = row_from[by]; y < row_to[by]; ++y)
            for (int x = col_from[bx]; x < col_to[bx]; ++x) best = fmaxf(best, plane[y * WIDTH + x]);
        pooled[(size_t)r * CHANNELS * 25 + i] = best;
    }
}

int main() {
    const int n_features = CHANNELS * HEIGHT * WIDTH;
    const int n_boxes = REGIONS * 4;
    const int n_pooled = REGIONS * CHANNELS * 5 * 5;
    float* host_features = (float*)malloc(n_features * sizeof(float));
    int* host_boxes = (int*)malloc(n_boxes * sizeof(int));
    float* host_pooled = (float*)malloc(n_pooled * sizeof(float));

    FILE* fp;
    fp = fopen("data/features.bin", "rb");
    if (!fp || fread(host_features, sizeof(float), n_features, fp) != n_features) {
        fprintf(stderr, "cannot read data/features.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/boxes.bin", "rb");
    if (!fp || fread(host_boxes, sizeof(int), n_boxes, fp) != n_boxes) {
        fprintf(stderr, "cannot read data/boxes.bin\n");
        return 1;
    }
    fclose(fp);

    float* d_features;
    int* d_boxes;
    float* d_pooled;
    CUDA_CHECK(cudaMalloc(&d_features, n_features * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_boxes, n_boxes * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_pooled, n_pooled * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_features, host_features, n_features * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_boxes, host_boxes, n_boxes * sizeof(int), cudaMemcpyHostToDevice));

    roi_max_region<<<REGIONS, 256>>>(d_features, d_boxes, d_pooled);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(host_pooled, d_pooled, n_pooled * sizeof(float), cudaMemcpyDeviceToHost));
    fp = fopen("data/pooled.bin", "wb");
    if (!fp || fwrite(host_pooled, sizeof(float), n_pooled, fp) != n_pooled) {
        fprintf(stderr, "cannot write data/pooled.bin\n");
        return 1;
    }
    fclose(fp);

    cudaFree(d_features);
    cudaFree(d_boxes);
    cudaFree(d_pooled);
    free(host_features);
    free(host_boxes);
    free(host_pooled);
    return 0;
}
