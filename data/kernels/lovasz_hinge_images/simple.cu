#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// Instead of sorting, every pixel counts the pixels before it in the order (by error, then by place).
__global__ void addTerms(const float* logits, const unsigned char* labels, double* loss, int pixels) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= pixels) return;
    const float* z = logits + (size_t)blockIdx.y * pixels;
    const unsigned char* y = labels + (size_t)blockIdx.y * pixels;
    float error = y[x] ? 1 - z[x] : 1 + z[x];
    int before = 0, onesBefore = 0, ones = 0;
    for (int k = 0; k < pixels; ++k) {
        float other = y[k] ? 1 - z[k] : 1 + z[k];
        int earlier = other > error || (other == error && k < x);
        before += earlier;
        onesBefore += earlier && y[k];
        ones += y[k] != 0;
    }
    if (error <= 0) return;
    double lower = before ? 1.0 - (double)(ones - onesBefore) / (ones + before - onesBefore) : 0.0;
    int k = before + 1, seen = onesBefore + (y[x] != 0);
    double upper = 1.0 - (double)(ones - seen) / (ones + k - seen);
    atomicAdd(&loss[blockIdx.y], error * (upper - lower));
}

static void demand(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t status) { demand(status == cudaSuccess, cudaGetErrorString(status)); }

static void* loadToDevice(const char* path, size_t bytes) {
    void *host = malloc(bytes), *device;
    FILE* file = fopen(path, "rb");
    demand(host && file && fread(host, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
    cuda(cudaMalloc(&device, bytes));
    cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

int main() {
    int sizes[2];
    FILE* file = fopen("data/sizes.bin", "rb");
    demand(file && fread(sizes, sizeof(int), 2, file) == 2 && fgetc(file) == EOF, "data/sizes.bin");
    fclose(file);
    int images = sizes[0], pixels = sizes[1];
    demand(images >= 1 && images <= 4096 && pixels >= 1 && pixels <= 1000000, "sizes out of range");
    size_t count = (size_t)images * pixels;
    float* logits = (float*)loadToDevice("data/logits.bin", count * sizeof(float));
    unsigned char* labels = (unsigned char*)loadToDevice("data/labels.bin", count);
    double *dLoss, *total = (double*)malloc(images * sizeof(double));
    float* loss = (float*)malloc(images * sizeof(float));
    demand(total && loss, "out of memory");
    cuda(cudaMalloc(&dLoss, images * sizeof(double)));
    cuda(cudaMemset(dLoss, 0, images * sizeof(double)));
    addTerms<<<dim3((pixels + 127) / 128, images), 128>>>(logits, labels, dLoss, pixels);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(total, dLoss, images * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < images; ++i) loss[i] = (float)total[i];
    file = fopen("data/loss.bin", "wb");
    demand(file && fwrite(loss, sizeof(float), images, file) == (size_t)images && fclose(file) == 0, "loss.bin");
    return 0;
}
