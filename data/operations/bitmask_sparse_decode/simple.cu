#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void load_bin(const char* filename, void* data, size_t bytes) {
    FILE* f = fopen(filename, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", filename);
        exit(1);
    }
    fclose(f);
}

void store_bin(const char* filename, const void* data, size_t bytes) {
    FILE* f = fopen(filename, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", filename);
        exit(1);
    }
    fclose(f);
}
//@given

#define ROWS 40
#define WORDS 10
#define TOTAL 5000
#define DIVUP(a, b) (((a) + (b) - 1) / (b))

__global__ void decode(const unsigned int* mask, const int* offsets, const float* packed, float* dense) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS * WORDS) return;
    int row = i / WORDS;
    int w = i % WORDS;
    int pos = offsets[row];
    for (int k = 0; k < w; k++) pos += __popc(mask[row * WORDS + k]);
    unsigned int bits = mask[i];
    for (int k = 0; k < 32; k++) {
        float v = 0.0f;
        if ((bits >> k) & 1u) v = packed[pos++];
        dense[(size_t)i * 32 + k] = v;
    }
}

int main() {
    const size_t maskCount = (size_t)ROWS * WORDS;
    const size_t offsetsCount = ROWS + 1;
    const size_t denseCount = (size_t)ROWS * (WORDS * 32);
    unsigned int* mask = new unsigned int[maskCount];
    int* offsets = new int[offsetsCount];
    float* packed = new float[TOTAL];
    float* dense = new float[denseCount];
    load_bin("data/mask.bin", mask, maskCount * sizeof(unsigned int));
    load_bin("data/offsets.bin", offsets, offsetsCount * sizeof(int));
    load_bin("data/packed.bin", packed, TOTAL * sizeof(float));

    unsigned int* d_mask = nullptr;
    cudaMalloc(&d_mask, maskCount * sizeof(unsigned int));
    cudaMemcpy(d_mask, mask, maskCount * sizeof(unsigned int), cudaMemcpyHostToDevice);
    int* d_offsets = nullptr;
    cudaMalloc(&d_offsets, offsetsCount * sizeof(int));
    cudaMemcpy(d_offsets, offsets, offsetsCount * sizeof(int), cudaMemcpyHostToDevice);
    float* d_packed = nullptr;
    cudaMalloc(&d_packed, TOTAL * sizeof(float));
    cudaMemcpy(d_packed, packed, TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    float* d_dense = nullptr;
    cudaMalloc(&d_dense, denseCount * sizeof(float));

    decode<<<DIVUP(ROWS * WORDS, 128), 128>>>(d_mask, d_offsets, d_packed, d_dense);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(error));
        return 1;
    }
    cudaMemcpy(dense, d_dense, denseCount * sizeof(float), cudaMemcpyDeviceToHost);

    store_bin("data/dense.bin", dense, denseCount * sizeof(float));
    cudaFree(d_mask);
    cudaFree(d_offsets);
    cudaFree(d_packed);
    cudaFree(d_dense);
    delete[] mask;
    delete[] offsets;
    delete[] packed;
    delete[] dense;
    return 0;
}
