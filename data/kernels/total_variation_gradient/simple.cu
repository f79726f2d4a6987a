#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// A thread adds its pixel's term to the loss and to the gradients of the up to three pixels in it.
__global__ void totalVariation(const float* image, double* loss, float* grad, int images, int height, int width) {
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, cells = (size_t)height * width;
    if (at >= images * cells) return;
    int x = at % width, y = at / width % height;
    float dx = x + 1 < width ? image[at + 1] - image[at] : 0;
    float dy = y + 1 < height ? image[at + width] - image[at] : 0;
    float m = sqrtf(dx * dx + dy * dy + 0.0625f);
    atomicAdd(&loss[at / cells], (double)m);
    atomicAdd(&grad[at], -(dx + dy) / m);
    if (x + 1 < width) atomicAdd(&grad[at + 1], dx / m);
    if (y + 1 < height) atomicAdd(&grad[at + width], dy / m);
}

static void check(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t status) { check(status == cudaSuccess, cudaGetErrorString(status)); }

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    check(file && data && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
}

static void writeFile(const char* path, const float* data, size_t count) {
    FILE* file = fopen(path, "wb");
    check(file && fwrite(data, sizeof(float), count, file) == count && fclose(file) == 0, path);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    int images = sizes[0], height = sizes[1], width = sizes[2];
    check(images >= 1 && images <= 1024 && height >= 1 && height <= 4096 && width >= 1 && width <= 4096, "sizes");
    size_t count = (size_t)images * height * width;
    float *pixels = (float*)malloc(count * sizeof(float)), *image, *grad;
    double *total = (double*)malloc(images * sizeof(double)), *dLoss;
    readFile("data/image.bin", pixels, count * sizeof(float));
    check(total != NULL, "out of memory");
    cuda(cudaMalloc(&image, count * sizeof(float)));
    cuda(cudaMalloc(&grad, count * sizeof(float)));
    cuda(cudaMalloc(&dLoss, images * sizeof(double)));
    cuda(cudaMemcpy(image, pixels, count * sizeof(float), cudaMemcpyHostToDevice));
    cuda(cudaMemset(grad, 0, count * sizeof(float)));
    cuda(cudaMemset(dLoss, 0, images * sizeof(double)));
    totalVariation<<<(count + 255) / 256, 256>>>(image, dLoss, grad, images, height, width);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(pixels, grad, count * sizeof(float), cudaMemcpyDeviceToHost));
    cuda(cudaMemcpy(total, dLoss, images * sizeof(double), cudaMemcpyDeviceToHost));
    writeFile("data/grad.bin", pixels, count);
    float* loss = (float*)malloc(images * sizeof(float));
    check(loss != NULL, "out of memory");
    for (int i = 0; i < images; ++i) loss[i] = (float)total[i];
    writeFile("data/loss.bin", loss, images);
    return 0;
}
