#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int BATCH = 3;
static const int HEIGHT = 40;
static const int WIDTH = 60;
static const int PLANE = HEIGHT * WIDTH;
static const int BLOCK = 256;
static const int PARTS = 8;

// grid.y is the image, grid.x a share of its pixels; each block adds its count once.
__global__ void balance_image(const float* __restrict__ images, const float* __restrict__ gains,
                              float* __restrict__ balanced, int* __restrict__ clipped) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const size_t base = (size_t)blockIdx.y * 3 * PLANE;
    const float gr = gains[3 * blockIdx.y], gg = gains[3 * blockIdx.y + 1], gb = gains[3 * blockIdx.y + 2];
    const float* in = images + base;
    float* out = balanced + base;
    int mine = 0;
    for (int p = blockIdx.x * BLOCK + threadIdx.x; p < PLANE; p += PARTS * BLOCK) {
        const float r = in[p] * gr, g = in[PLANE + p] * gg, b = in[2 * PLANE + p] * gb;
        mine += fmaxf(r, fmaxf(g, b)) > 1.0f;
        out[p] = fminf(r, 1.0f);
        out[PLANE + p] = fminf(g, 1.0f);
        out[2 * PLANE + p] = fminf(b, 1.0f);
    }
    for (int s = 16; s > 0; s >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, s);
    if (threadIdx.x % 32 == 0) atomicAdd(&count, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&clipped[blockIdx.y], count);
}

void launch(const float* d_images, const float* d_gains, float* d_balanced, int* d_clipped) {
    balance_image<<<dim3(PARTS, BATCH), BLOCK>>>(d_images, d_gains, d_balanced, d_clipped);
}

int main() {
    const size_t n_images = BATCH * 3 * HEIGHT * WIDTH;
    const size_t n_gains = (size_t)BATCH * 3;
    std::vector<float> images(n_images);
    std::vector<float> gains(n_gains);
    std::vector<float> balanced(n_images);
    std::vector<int> clipped(BATCH);
    if (!std::ifstream("data/images.bin", std::ios::binary)
             .read((char*)images.data(), n_images * sizeof(float))) {
        std::cerr << "data/images.bin is missing or short\n";
        return 1;
    }
    if (!std::ifstream("data/gains.bin", std::ios::binary)
             .read((char*)gains.data(), n_gains * sizeof(float))) {
        std::cerr << "data/gains.bin is missing or short\n";
        return 1;
    }

    float *d_images, *d_gains, *d_balanced;
    int *d_clipped;
    cudaMalloc(&d_images, n_images * sizeof(float));
    cudaMalloc(&d_gains, n_gains * sizeof(float));
    cudaMalloc(&d_balanced, n_images * sizeof(float));
    cudaMalloc(&d_clipped, BATCH * sizeof(int));
    cudaMemcpy(d_images, images.data(), n_images * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gains, gains.data(), n_gains * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_clipped, 0, BATCH * sizeof(int));
    launch(d_images, d_gains, d_balanced, d_clipped);
    cudaMemcpy(balanced.data(), d_balanced, n_images * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(clipped.data(), d_clipped, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/balanced.bin", std::ios::binary)
        .write((const char*)balanced.data(), n_images * sizeof(float));
    std::ofstream("data/clipped.bin", std::ios::binary)
        .write((const char*)clipped.data(), BATCH * sizeof(int));
    cudaFree(d_images);
    cudaFree(d_gains);
    cudaFree(d_balanced);
    cudaFree(d_clipped);
    return 0;
}
