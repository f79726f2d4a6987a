#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// One thread a row, two passes over its classes.
__global__ void marginLoss(const float* cosine, const int* labels, float* loss, float* confidence, int rows,
                           int classes) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = cosine + (size_t)r * classes;
    float c = row[labels[r]], own;
    if (c > -cosf(0.5f))
        own = 30 * (c * cosf(0.5f) - sqrtf(fmaxf(0.0f, 1 - c * c)) * sinf(0.5f));
    else
        own = 30 * (c - 0.5f * sinf(0.5f));
    float top = own, sum = 0;
    for (int k = 0; k < classes; ++k)
        if (k != labels[r]) top = fmaxf(top, 30 * row[k]);
    for (int k = 0; k < classes; ++k) sum += expf((k == labels[r] ? own : 30 * row[k]) - top);
    loss[r] = logf(sum) + (top - own);
    confidence[r] = expf(own - top) / sum;
}

static void ensure(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t status) { ensure(status == cudaSuccess, cudaGetErrorString(status)); }

static void* readFile(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* file = fopen(path, "rb");
    ensure(data && file && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
    return data;
}

static void* upload(const void* host, size_t bytes) {
    void* device;
    cuda(cudaMalloc(&device, bytes));
    cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, const float* device, int count) {
    float* host = (float*)malloc(count * sizeof(float));
    ensure(host != NULL, "out of memory");
    cuda(cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    ensure(file && fwrite(host, sizeof(float), count, file) == (size_t)count && fclose(file) == 0, path);
    free(host);
}

int main() {
    int* sizes = (int*)readFile("data/sizes.bin", 2 * sizeof(int));
    int rows = sizes[0], classes = sizes[1];
    ensure(rows >= 1 && rows <= 65535 && classes >= 2 && classes <= 100000, "sizes out of range");
    size_t bytes = (size_t)rows * classes * sizeof(float);
    float* cosine = (float*)readFile("data/cosine.bin", bytes);
    int* labels = (int*)readFile("data/labels.bin", rows * sizeof(int));
    for (int r = 0; r < rows; ++r) ensure(labels[r] >= 0 && labels[r] < classes, "no such class");
    float *loss, *confidence;
    cuda(cudaMalloc(&loss, rows * sizeof(float)));
    cuda(cudaMalloc(&confidence, rows * sizeof(float)));
    marginLoss<<<(rows + 31) / 32, 32>>>((float*)upload(cosine, bytes), (int*)upload(labels, rows * sizeof(int)), loss,
                                         confidence, rows, classes);
    cuda(cudaGetLastError());
    writeFile("data/loss.bin", loss, rows);
    writeFile("data/confidence.bin", confidence, rows);
    return 0;
}
