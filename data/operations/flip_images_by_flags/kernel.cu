#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

const int BATCH = 6;
const int HEIGHT = 30;
const int WIDTH = 41;
const int ROW = WIDTH * 3;

// One block writes one row of floats in order; the flags are the same for the whole block.
__global__ void flip_rows(const float* __restrict__ images, const int* __restrict__ flags,
                          float* __restrict__ flipped) {
    const int b = blockIdx.x / HEIGHT;
    const int y = blockIdx.x - b * HEIGHT;
    const int f = flags[b];
    const int sy = (f & 2) ? HEIGHT - 1 - y : y;
    const float* src = images + (size_t)(b * HEIGHT + sy) * ROW;
    float* dst = flipped + (size_t)blockIdx.x * ROW;
    for (int k = threadIdx.x; k < ROW; k += blockDim.x) {
        int x = k / 3, c = k - 3 * x;
        if (f & 1) x = WIDTH - 1 - x;
        if (f & 4) c = 2 - c;
        dst[k] = src[3 * x + c];
    }
}

int main() {
    const size_t total = (size_t)BATCH * HEIGHT * WIDTH * 3;
    std::vector<float> images(total), flipped(total);
    std::vector<int> flags(BATCH);
    FILE* f_images = fopen("data/images.bin", "rb");
    if (!f_images || fread(images.data(), sizeof(float), total, f_images) != total) return 1;
    fclose(f_images);
    FILE* f_flags = fopen("data/flags.bin", "rb");
    if (!f_flags || fread(flags.data(), sizeof(int), BATCH, f_flags) != BATCH) return 1;
    fclose(f_flags);
    float *dev_images, *dev_flipped;
    int *dev_flags;
    cudaMalloc(&dev_images, total * sizeof(float));
    cudaMalloc(&dev_flags, BATCH * sizeof(int));
    cudaMalloc(&dev_flipped, total * sizeof(float));
    cudaMemcpy(dev_images, images.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_flags, flags.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);
    flip_rows<<<BATCH * HEIGHT, 192>>>(dev_images, dev_flags, dev_flipped);
    cudaMemcpy(flipped.data(), dev_flipped, total * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o_flipped = fopen("data/flipped.bin", "wb");
    fwrite(flipped.data(), sizeof(float), total, o_flipped);
    fclose(o_flipped);
    return 0;
}
