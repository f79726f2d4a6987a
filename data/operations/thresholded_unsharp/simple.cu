#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(x) { cudaError_t code = (x); \
    if (code != cudaSuccess) { printf("%s failed: %s\n", #x, cudaGetErrorString(code)); exit(1); } }

#define HEIGHT 90
#define WIDTH 160

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

__device__ int reflect(int i, int n) {
    if (i < 0) return -1 - i;
    if (i >= n) return 2 * n - 1 - i;
    return i;
}

__global__ void unsharp(const float* photo, float* sharp) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx)
            sum += photo[reflect(y + dy, HEIGHT) * WIDTH + reflect(x + dx, WIDTH)];
    float v = photo[y * WIDTH + x];
    float d = v - sum / 25.0f;
    float e = 0.0f;
    if (d > 4.0f) e = d - 4.0f;
    else if (d < -4.0f) e = d + 4.0f;
    sharp[y * WIDTH + x] = fminf(fmaxf(v + 1.5f * e, 0.0f), 255.0f);
}

int main(void) {
    const size_t elements = (size_t)HEIGHT * WIDTH;
    float* host_photo = (float*)malloc(elements * sizeof(float));
    float* host_sharp = (float*)malloc(elements * sizeof(float));

    load_bin("data/photo.bin", host_photo, elements * sizeof(float));

    float* d_photo;
    float* d_sharp;
    gpuErrchk(cudaMalloc((void**)&d_photo, elements * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_sharp, elements * sizeof(float)));
    gpuErrchk(cudaMemcpy(d_photo, host_photo, elements * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    unsharp<<<grid, block>>>(d_photo, d_sharp);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());

    gpuErrchk(cudaMemcpy(host_sharp, d_sharp, elements * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* fo = fopen("data/sharp.bin", "wb");
    if (!fo || fwrite(host_sharp, sizeof(float), elements, fo) != (size_t)elements) {
        fprintf(stderr, "could not write data/sharp.bin\n");
        return 1;
    }
    fclose(fo);

    cudaFree(d_photo);
    cudaFree(d_sharp);
    free(host_photo);
    free(host_sharp);
    return 0;
}
