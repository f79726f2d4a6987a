#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 64;
static const int COLS = 200;

static inline void check(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool readBinary(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool writeBinary(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

// One thread per column.
__global__ void clip_columns(const float* x, const float* low, const float* high, float* clipped, int* outside) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    float lo = low[c], hi = high[c];
    int below = 0, above = 0;
    for (int r = 0; r < ROWS; ++r) {
        float v = x[(size_t)r * COLS + c];
        if (v < lo) {
            v = lo;
            below++;
        } else if (v > hi) {
            v = hi;
            above++;
        }
        clipped[(size_t)r * COLS + c] = v;
    }
    outside[2 * c] = below;
    outside[2 * c + 1] = above;
}

int main() {
    const size_t total = ROWS * COLS;
    const size_t n_outside = COLS * 2;
    std::vector<float> x(total);
    std::vector<float> low(COLS);
    std::vector<float> high(COLS);
    std::vector<float> clipped(total);
    std::vector<int> outside(n_outside);
    if (!readBinary("data/x.bin", x.data(), total * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!readBinary("data/low.bin", low.data(), COLS * sizeof(float))) {
        fprintf(stderr, "cannot read data/low.bin\n");
        return 1;
    }
    if (!readBinary("data/high.bin", high.data(), COLS * sizeof(float))) {
        fprintf(stderr, "cannot read data/high.bin\n");
        return 1;
    }

    float *d_x, *d_low, *d_high, *d_clipped;
    int* d_outside;
    check(cudaMalloc(&d_x, total * sizeof(float)), "cudaMalloc x");
    check(cudaMalloc(&d_low, COLS * sizeof(float)), "cudaMalloc low");
    check(cudaMalloc(&d_high, COLS * sizeof(float)), "cudaMalloc high");
    check(cudaMalloc(&d_clipped, total * sizeof(float)), "cudaMalloc clipped");
    check(cudaMalloc(&d_outside, n_outside * sizeof(int)), "cudaMalloc outside");
    check(cudaMemcpy(d_x, x.data(), total * sizeof(float), cudaMemcpyHostToDevice), "memcpy x");
    check(cudaMemcpy(d_low, low.data(), COLS * sizeof(float), cudaMemcpyHostToDevice), "upload low");
    check(cudaMemcpy(d_high, high.data(), COLS * sizeof(float), cudaMemcpyHostToDevice), "memcpy high");

    clip_columns<<<(COLS + 64 - 1) / 64, 64>>>(d_x, d_low, d_high, d_clipped, d_outside);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(clipped.data(), d_clipped, total * sizeof(float), cudaMemcpyDeviceToHost), "result");
    check(cudaMemcpy(outside.data(), d_outside, n_outside * sizeof(int), cudaMemcpyDeviceToHost), "download");
    if (!writeBinary("data/clipped.bin", clipped.data(), total * sizeof(float))) {
        fprintf(stderr, "cannot write data/clipped.bin\n");
        return 1;
    }
    if (!writeBinary("data/outside.bin", outside.data(), n_outside * sizeof(int))) {
        fprintf(stderr, "cannot write data/outside.bin\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_low);
    cudaFree(d_high);
    cudaFree(d_clipped);
    cudaFree(d_outside);
    return 0;
}
