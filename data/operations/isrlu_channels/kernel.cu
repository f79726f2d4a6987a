#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

void read_bytes(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_bytes(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

constexpr int kBatch = 2;
constexpr int kChannels = 5;
constexpr int kHeight = 30;
constexpr int kWidth = 31;

// One block per (image, channel) plane, so the channel's parameter is read once.
__global__ void isrlu_plane(const float *__restrict__ x, const float *__restrict__ alpha, float *__restrict__ y,
                            int plane) {
    const float a = alpha[blockIdx.x % kChannels];
    const float *src = x + (size_t)blockIdx.x * plane;
    float *dst = y + (size_t)blockIdx.x * plane;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) {
        float v = src[i];
        float neg = v * rsqrtf(fmaf(a * v, v, 1.0f));
        dst[i] = v < 0.0f ? neg : v;
    }
}

int main() {
    const int size = kBatch * kChannels * kHeight * kWidth;
    float *host_x = new float[size];
    float *host_alpha = new float[kChannels];
    float *host_y = new float[size];
    read_bytes("data/x.bin", host_x, size * sizeof(float));
    read_bytes("data/alpha.bin", host_alpha, kChannels * sizeof(float));

    float *dev_x, *dev_alpha, *dev_y;
    cudaMalloc(&dev_x, size * sizeof(float));
    cudaMalloc(&dev_alpha, kChannels * sizeof(float));
    cudaMalloc(&dev_y, size * sizeof(float));
    cudaMemcpy(dev_x, host_x, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_alpha, host_alpha, kChannels * sizeof(float), cudaMemcpyHostToDevice);

    isrlu_plane<<<kBatch * kChannels, 256>>>(dev_x, dev_alpha, dev_y, kHeight * kWidth);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(host_y, dev_y, size * sizeof(float), cudaMemcpyDeviceToHost);
    write_bytes("data/y.bin", host_y, size * sizeof(float));

    cudaFree(dev_x);
    cudaFree(dev_alpha);
    cudaFree(dev_y);
    delete[] host_x;
    delete[] host_alpha;
    delete[] host_y;
    return 0;
}
