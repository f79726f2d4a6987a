#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define BATCH 4
#define HEIGHT 50
#define WIDTH 60
#define ROWS_PER_BLOCK 4
#define BLOCK 128

#define CUDA_OK(call) do {                                                              \
    cudaError_t e = (call);                                                             \
    if (e != cudaSuccess) {                                                             \
        fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(e), __LINE__); \
        exit(1);                                                                        \
    }                                                                                   \
} while (0)

// A block covers a few whole rows of one image; row pointers are found once per row.
__global__ void emboss_rows(const unsigned char* __restrict__ images, const int* __restrict__ direction,
                            const int* __restrict__ gain, unsigned char* __restrict__ relief) {
    const int b = blockIdx.y, d = direction[b], g = gain[b];
    const int dy = d == 0 || d == 4 ? 0 : (d < 4 ? 1 : -1);
    const int dx = d == 2 || d == 6 ? 0 : (d > 2 && d < 6 ? -1 : 1);
    const size_t base = (size_t)b * HEIGHT * WIDTH;
    const int first = blockIdx.x * ROWS_PER_BLOCK;
    const int last = min(first + ROWS_PER_BLOCK, HEIGHT);
    for (int y = first; y < last; ++y) {
        const unsigned char* ahead = images + base + (size_t)min(max(y + dy, 0), HEIGHT - 1) * WIDTH;
        const unsigned char* behind = images + base + (size_t)min(max(y - dy, 0), HEIGHT - 1) * WIDTH;
        unsigned char* out = relief + base + (size_t)y * WIDTH;
        for (int x = threadIdx.x; x < WIDTH; x += BLOCK) {
            const int right = min(max(x + dx, 0), WIDTH - 1), left = min(max(x - dx, 0), WIDTH - 1);
            const int slope = (ahead[right] - behind[left]) * g;
            out[x] = (unsigned char)min(max((slope >> 1) + 128, 0), 255);
        }
    }
}

int main(void) {
    const size_t numel = (size_t)BATCH * HEIGHT * WIDTH;
    unsigned char* h_images = (unsigned char*)malloc(numel * sizeof(unsigned char));
    int* h_direction = (int*)malloc(BATCH * sizeof(int));
    int* h_gain = (int*)malloc(BATCH * sizeof(int));
    unsigned char* h_relief = (unsigned char*)malloc(numel * sizeof(unsigned char));

    FILE* f = fopen("data/images.bin", "rb");
    if (!f || fread(h_images, sizeof(unsigned char), numel, f) != numel) {
        fprintf(stderr, "cannot read data/images.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/direction.bin", "rb");
    if (!f || fread(h_direction, sizeof(int), BATCH, f) != (size_t)BATCH) {
        fprintf(stderr, "cannot read data/direction.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/gain.bin", "rb");
    if (!f || fread(h_gain, sizeof(int), BATCH, f) != (size_t)BATCH) {
        fprintf(stderr, "cannot read data/gain.bin\n");
        return 1;
    }
    fclose(f);

    unsigned char *d_images, *d_relief;
    int *d_direction, *d_gain;
    CUDA_OK(cudaMalloc(&d_images, numel * sizeof(unsigned char)));
    CUDA_OK(cudaMalloc(&d_direction, BATCH * sizeof(int)));
    CUDA_OK(cudaMalloc(&d_gain, BATCH * sizeof(int)));
    CUDA_OK(cudaMalloc(&d_relief, numel * sizeof(unsigned char)));
    CUDA_OK(cudaMemcpy(d_images, h_images, numel * sizeof(unsigned char), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_direction, h_direction, BATCH * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_gain, h_gain, BATCH * sizeof(int), cudaMemcpyHostToDevice));

    emboss_rows<<<dim3((HEIGHT + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, BATCH), BLOCK>>>(d_images, d_direction,
            d_gain, d_relief);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(h_relief, d_relief, numel * sizeof(unsigned char), cudaMemcpyDeviceToHost));

    f = fopen("data/relief.bin", "wb");
    if (!f) return 1;
    fwrite(h_relief, sizeof(unsigned char), numel, f);
    fclose(f);

    cudaFree(d_images);
    cudaFree(d_direction);
    cudaFree(d_gain);
    cudaFree(d_relief);
    free(h_images);
    free(h_direction);
    free(h_gain);
    free(h_relief);
    return 0;
}
