#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define BATCH 4
#define ORDER 64
#define HALF 9

__global__ void expand(const float* bands, float* dense) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    int b = blockIdx.z;
    if (j >= ORDER) return;
    float v = 0.0f;
    if (abs(i - j) <= HALF) v = bands[(b * (2 * HALF + 1) + HALF + i - j) * ORDER + j];
    dense[(b * ORDER + i) * ORDER + j] = v;
}

int main() {
    const size_t bands_total = (size_t)BATCH * (2 * HALF + 1) * ORDER;
    const size_t dense_total = (size_t)BATCH * ORDER * ORDER;
    std::vector<float> bands(bands_total), dense(dense_total);
    FILE* f_bands = fopen("data/bands.bin", "rb");
    if (!f_bands || fread(bands.data(), sizeof(float), bands_total, f_bands) != bands_total) return 1;
    fclose(f_bands);
    float* d_bands = nullptr;
    cudaMalloc(&d_bands, bands_total * sizeof(float));
    cudaMemcpy(d_bands, bands.data(), bands_total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_dense = nullptr;
    cudaMalloc(&d_dense, dense_total * sizeof(float));
    dim3 grid((ORDER + 127) / 128, ORDER, BATCH);
    expand<<<grid, 128>>>(d_bands, d_dense);
    cudaMemcpy(dense.data(), d_dense, dense_total * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o_dense = fopen("data/dense.bin", "wb");
    fwrite(dense.data(), sizeof(float), dense_total, o_dense);
    fclose(o_dense);
    return 0;
}
