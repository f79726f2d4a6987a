#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_bytes(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_bytes(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define BOXES 150
#define CLASSES 80
#define SIZE (BOXES * CLASSES)

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void quality_focal(const float* logits, const float* quality, float* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = logits[i], y = quality[i];
        float s = 1.0f / (1.0f + expf(-x));
        float bce = fmaxf(x, 0.0f) - x * y + log1pf(expf(-fabsf(x)));
        loss[i] = (y - s) * (y - s) * bce;
    }
}

int main() {
    const size_t bytes_logits = SIZE * sizeof(float);
    float* host_logits = (float*)malloc(bytes_logits);
    float* host_quality = (float*)malloc(bytes_logits);
    float* host_loss = (float*)malloc(bytes_logits);
    read_bytes("data/logits.bin", host_logits, bytes_logits);
    read_bytes("data/quality.bin", host_quality, bytes_logits);

    float* d_logits;
    float* d_quality;
    float* d_loss;
    cudaMalloc((void**)&d_logits, bytes_logits);
    cudaMalloc((void**)&d_quality, bytes_logits);
    cudaMalloc((void**)&d_loss, bytes_logits);
    cudaMemcpy(d_logits, host_logits, bytes_logits, cudaMemcpyHostToDevice);
    cudaMemcpy(d_quality, host_quality, bytes_logits, cudaMemcpyHostToDevice);

    quality_focal<<<DIV_UP(SIZE, 256), 256>>>(d_logits, d_quality, d_loss, SIZE);

    cudaMemcpy(host_loss, d_loss, bytes_logits, cudaMemcpyDeviceToHost);
    write_bytes("data/loss.bin", host_loss, bytes_logits);

    cudaFree(d_logits);
    cudaFree(d_quality);
    cudaFree(d_loss);
    free(host_logits);
    free(host_quality);
    free(host_loss);
    return 0;
}
