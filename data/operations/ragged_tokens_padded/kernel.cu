#include <cstdio>
#include <cuda_runtime.h>

constexpr int kTotal = 500;
constexpr int kDim = 30;
constexpr int kBatch = 9;
constexpr int kMaxLen = 60;
constexpr int kLine = kMaxLen * kDim;

// Within a sequence the source, the positions and the target all run in the same flat order.
__global__ void copy_sequence(const float* __restrict__ values, const int* __restrict__ offsets,
                              const float* __restrict__ position, float* __restrict__ padded,
                              unsigned char* __restrict__ valid) {
    const int b = blockIdx.x;
    const int begin = offsets[b];
    const int len = min(offsets[b + 1] - begin, kMaxLen);
    const int used = len * kDim;
    const float* src = values + (size_t)begin * kDim;
    float* dst = padded + (size_t)b * kLine;
    const int first = blockIdx.y * blockDim.x + threadIdx.x;
    const int step = gridDim.y * blockDim.x;
    for (int i = first; i < kLine; i += step) dst[i] = i < used ? src[i] + position[i] : 0.0f;
    for (int t = first; t < kMaxLen; t += step) valid[b * kMaxLen + t] = t < len;
}

int main() {
    size_t values_total = (size_t)kTotal * kDim;
    size_t offsets_total = kBatch + 1;
    size_t position_total = (size_t)kMaxLen * kDim;
    size_t padded_total = (size_t)kBatch * kMaxLen * kDim;
    size_t valid_total = (size_t)kBatch * kMaxLen;
    float* values;
    int* offsets;
    float* position;
    float* padded;
    unsigned char* valid;
    cudaMallocManaged(&values, values_total * sizeof(float));
    cudaMallocManaged(&offsets, offsets_total * sizeof(int));
    cudaMallocManaged(&position, position_total * sizeof(float));
    cudaMallocManaged(&padded, padded_total * sizeof(float));
    cudaMallocManaged(&valid, valid_total * sizeof(unsigned char));

    FILE* file = fopen("data/values.bin", "rb");
    if (!file || fread(values, sizeof(float), values_total, file) != values_total) {
        perror("data/values.bin");
        return 1;
    }
    fclose(file);
    file = fopen("data/offsets.bin", "rb");
    if (!file || fread(offsets, sizeof(int), offsets_total, file) != offsets_total) {
        perror("data/offsets.bin");
        return 1;
    }
    fclose(file);
    file = fopen("data/position.bin", "rb");
    if (!file || fread(position, sizeof(float), position_total, file) != position_total) {
        perror("data/position.bin");
        return 1;
    }
    fclose(file);

    copy_sequence<<<dim3(kBatch, 4), 256>>>(values, offsets, position, padded, valid);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    file = fopen("data/padded.bin", "wb");
    fwrite(padded, sizeof(float), padded_total, file);
    fclose(file);
    file = fopen("data/valid.bin", "wb");
    fwrite(valid, sizeof(unsigned char), valid_total, file);
    fclose(file);
    cudaFree(values);
    cudaFree(offsets);
    cudaFree(position);
    cudaFree(padded);
    cudaFree(valid);
    return 0;
}
