#include <cstdio>
#include <cuda_runtime.h>

#define ROWS 64
#define COLS 300

// One warp per row, eight rows a block.
__global__ void hard_mish_warps(const float* __restrict__ x, const float* __restrict__ scale, float* __restrict__ y) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= ROWS) return;
    const float f = scale[row];
    const float* src = x + (size_t)row * COLS;
    float* dst = y + (size_t)row * COLS;
    for (int c = threadIdx.x % 32; c < COLS; c += 32) {
        const float t = f * src[c];
        dst[c] = t * __saturatef(fmaf(0.5f, t, 1.0f));
    }
}

static bool fill_from(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    const size_t numel = ROWS * COLS;
    float *x, *scale, *y;
    cudaMallocManaged(&x, numel * sizeof(float));
    cudaMallocManaged(&scale, ROWS * sizeof(float));
    cudaMallocManaged(&y, numel * sizeof(float));

    if (!fill_from("data/x.bin", x, numel * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!fill_from("data/scale.bin", scale, ROWS * sizeof(float))) {
        fprintf(stderr, "cannot read data/scale.bin\n");
        return 1;
    }

    const int blocks = (ROWS + 7) / 8;
    hard_mish_warps<<<blocks, 256>>>(x, scale, y);
    cudaDeviceSynchronize();

    FILE* out_file = fopen("data/y.bin", "wb");
    fwrite(y, sizeof(float), numel, out_file);
    fclose(out_file);

    cudaFree(x);
    cudaFree(scale);
    cudaFree(y);
    return 0;
}
