#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECK_CUDA(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

#define PLANES 2
#define BLOCKS_Y 4
#define BLOCKS_X 7
#define WIDTH (BLOCKS_X * 16)
#define HEIGHT (BLOCKS_Y * 16)

__global__ void z_order(const float* image, float* swizzled) {
    int x = threadIdx.x;
    int y = threadIdx.y;
    int place = 0;
    for (int i = 0; i < 4; i++) {
        place |= ((x >> i) & 1) << (2 * i);
        place |= ((y >> i) & 1) << (2 * i + 1);
    }
    int block = blockIdx.y * BLOCKS_X + blockIdx.x;
    int row = blockIdx.z * HEIGHT + blockIdx.y * 16 + y;
    float v = image[row * WIDTH + blockIdx.x * 16 + x];
    swizzled[(blockIdx.z * BLOCKS_Y * BLOCKS_X + block) * 256 + place] = v;
}

int main() {
    const size_t image_total = size_t(PLANES) * (BLOCKS_Y * 16) * (BLOCKS_X * 16);
    const size_t swizzled_total = size_t(PLANES) * (BLOCKS_Y * BLOCKS_X) * 256;
    float* h_image = (float*)malloc(image_total * sizeof(float));
    float* h_swizzled = (float*)malloc(swizzled_total * sizeof(float));

    FILE* f = fopen("data/image.bin", "rb");
    if (!f || fread(h_image, sizeof(float), image_total, f) != image_total) {
        fprintf(stderr, "cannot read data/image.bin\n");
        return 1;
    }
    fclose(f);

    float* d_image;
    CHECK_CUDA(cudaMalloc(&d_image, image_total * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_image, h_image, image_total * sizeof(float), cudaMemcpyHostToDevice));
    float* d_swizzled;
    CHECK_CUDA(cudaMalloc(&d_swizzled, swizzled_total * sizeof(float)));

    dim3 grid(BLOCKS_X, BLOCKS_Y, PLANES);
    z_order<<<grid, dim3(16, 16)>>>(d_image, d_swizzled);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(h_swizzled, d_swizzled, swizzled_total * sizeof(float), cudaMemcpyDeviceToHost));

    FILE* out = fopen("data/swizzled.bin", "wb");
    if (!out || fwrite(h_swizzled, sizeof(float), swizzled_total, out) != swizzled_total) {
        fprintf(stderr, "cannot write data/swizzled.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_image);
    cudaFree(d_swizzled);
    free(h_image);
    free(h_swizzled);
    return 0;
}
