#include <cuda_runtime.h>
#include <cstdio>

#define ROWS 25
#define COLS 400

__global__ void highway_columns(const float* __restrict__ x, const float* __restrict__ hidden,
                                const float* __restrict__ transform, const float* __restrict__ bias,
                                float* __restrict__ y) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    const float b = bias[c];
    const int first = blockIdx.y * 16;
    const int last = min(first + 16, ROWS);
    for (int r = first; r < last; ++r) {
        const size_t at = (size_t)r * COLS + c;
        const float carry = x[at];
        const float g = 1.0f / (1.0f + __expf(-(transform[at] + b)));
        y[at] = fmaf(g, tanhf(hidden[at]) - carry, carry);
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
    const size_t total = ROWS * COLS;
    float *x, *hidden, *transform, *bias, *y;
    cudaMallocManaged(&x, total * sizeof(float));
    cudaMallocManaged(&hidden, total * sizeof(float));
    cudaMallocManaged(&transform, total * sizeof(float));
    cudaMallocManaged(&bias, COLS * sizeof(float));
    cudaMallocManaged(&y, total * sizeof(float));
    if (!fill_from("data/x.bin", x, total * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!fill_from("data/hidden.bin", hidden, total * sizeof(float))) {
        fprintf(stderr, "cannot read data/hidden.bin\n");
        return 1;
    }
    if (!fill_from("data/transform.bin", transform, total * sizeof(float))) {
        fprintf(stderr, "cannot read data/transform.bin\n");
        return 1;
    }
    if (!fill_from("data/bias.bin", bias, COLS * sizeof(float))) {
        fprintf(stderr, "cannot read data/bias.bin\n");
        return 1;
    }

    dim3 grid((COLS + 127) / 128, (ROWS + 16 - 1) / 16);
    highway_columns<<<grid, 128>>>(x, hidden, transform, bias, y);
    cudaDeviceSynchronize();

    FILE* out_file = fopen("data/y.bin", "wb");
    fwrite(y, sizeof(float), total, out_file);
    fclose(out_file);

    cudaFree(x);
    cudaFree(hidden);
    cudaFree(transform);
    cudaFree(bias);
    cudaFree(y);
    return 0;
}
