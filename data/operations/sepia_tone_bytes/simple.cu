#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define HEIGHT 50
#define WIDTH 90

#define CUDA_OK(call) do {                                                                \
    cudaError_t err = (call);                                                             \
    if (err != cudaSuccess) {                                                             \
        fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(err), __LINE__); \
        exit(1);                                                                          \
    }                                                                                     \
} while (0)

__device__ unsigned char blend(int v, int tone, int m) {
    if (tone > 255) tone = 255;
    return (unsigned char)((v * (255 - m) + tone * m + 127) / 255);
}

__global__ void sepia(const unsigned char* photo, const unsigned char* mask, unsigned char* toned) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= HEIGHT * WIDTH) return;
    int r = photo[3 * i], g = photo[3 * i + 1], b = photo[3 * i + 2], m = mask[i];
    toned[3 * i] = blend(r, (402 * r + 787 * g + 194 * b + 512) / 1024, m);
    toned[3 * i + 1] = blend(g, (357 * r + 702 * g + 172 * b + 512) / 1024, m);
    toned[3 * i + 2] = blend(b, (279 * r + 547 * g + 134 * b + 512) / 1024, m);
}

int main(void) {
    const size_t n_photo = HEIGHT * WIDTH * 3;
    const size_t n_mask = HEIGHT * WIDTH;
    unsigned char* h_photo = (unsigned char*)malloc(n_photo * sizeof(unsigned char));
    unsigned char* h_mask = (unsigned char*)malloc(n_mask * sizeof(unsigned char));
    unsigned char* h_toned = (unsigned char*)malloc(n_photo * sizeof(unsigned char));

    FILE* f = fopen("data/photo.bin", "rb");
    if (!f || fread(h_photo, sizeof(unsigned char), n_photo, f) != n_photo) {
        fprintf(stderr, "cannot read data/photo.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/mask.bin", "rb");
    if (!f || fread(h_mask, sizeof(unsigned char), n_mask, f) != n_mask) {
        fprintf(stderr, "cannot read data/mask.bin\n");
        return 1;
    }
    fclose(f);

    unsigned char *d_photo, *d_mask, *d_toned;
    CUDA_OK(cudaMalloc(&d_photo, n_photo * sizeof(unsigned char)));
    CUDA_OK(cudaMalloc(&d_mask, n_mask * sizeof(unsigned char)));
    CUDA_OK(cudaMalloc(&d_toned, n_photo * sizeof(unsigned char)));
    CUDA_OK(cudaMemcpy(d_photo, h_photo, n_photo * sizeof(unsigned char), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_mask, h_mask, n_mask * sizeof(unsigned char), cudaMemcpyHostToDevice));

    int block = 256;
    sepia<<<(HEIGHT * WIDTH + block - 1) / block, block>>>(d_photo, d_mask, d_toned);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(h_toned, d_toned, n_photo * sizeof(unsigned char), cudaMemcpyDeviceToHost));

    f = fopen("data/toned.bin", "wb");
    if (!f) return 1;
    fwrite(h_toned, sizeof(unsigned char), n_photo, f);
    fclose(f);

    cudaFree(d_photo);
    cudaFree(d_mask);
    cudaFree(d_toned);
    free(h_photo);
    free(h_mask);
    free(h_toned);
    return 0;
}
