#include <cstdio>
#include <cuda_runtime.h>

#define HEIGHT 50
#define WIDTH 66

__global__ void compute_laplacian(const int* image, int* laplacian) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            int yy = min(max(y + dy, 0), HEIGHT - 1);
            int xx = min(max(x + dx, 0), WIDTH - 1);
            sum += image[yy * WIDTH + xx];
        }
    }
    laplacian[y * WIDTH + x] = 9 * image[y * WIDTH + x] - sum;
}

__device__ bool changes_sign(int a, int b) {
    return ((a > 0 && b < 0) || (a < 0 && b > 0)) && abs(a - b) > 40;
}

__global__ void mark_crossings(const int* laplacian, unsigned char* crossing) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int i = y * WIDTH + x;
    bool mark = false;
    if (x + 1 < WIDTH) mark = mark || changes_sign(laplacian[i], laplacian[i + 1]);
    if (y + 1 < HEIGHT) mark = mark || changes_sign(laplacian[i], laplacian[i + WIDTH]);
    crossing[i] = mark ? 1 : 0;
}

int main() {
    const size_t numel = (size_t)HEIGHT * WIDTH;
    int *image, *laplacian;
    unsigned char *crossing;
    cudaMallocManaged(&image, numel * sizeof(int));
    cudaMallocManaged(&laplacian, numel * sizeof(int));
    cudaMallocManaged(&crossing, numel * sizeof(unsigned char));

    FILE* f = fopen("data/image.bin", "rb");
    if (f == NULL || fread(image, sizeof(int), numel, f) != numel) {
        fprintf(stderr, "bad input: data/image.bin\n");
        return 1;
    }
    fclose(f);

    dim3 block(16, 16);
    dim3 grid((WIDTH + 16 - 1) / 16, (HEIGHT + 16 - 1) / 16);
    compute_laplacian<<<grid, block>>>(image, laplacian);
    mark_crossings<<<grid, block>>>(laplacian, crossing);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/laplacian.bin", "wb");
    fwrite(laplacian, sizeof(int), numel, out);
    fclose(out);
    out = fopen("data/crossing.bin", "wb");
    fwrite(crossing, sizeof(unsigned char), numel, out);
    fclose(out);
    cudaFree(image);
    cudaFree(laplacian);
    cudaFree(crossing);
    return 0;
}
