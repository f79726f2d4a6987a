#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 50;
constexpr int COLS = 400;

// One thread per row: a pass to the right stores the last known column, a pass back knows the next one.
__global__ void last_known(const unsigned char* __restrict__ known, int* left) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    int p = -1;
    for (int c = 0; c < COLS; ++c) {
        size_t i = (size_t)r * COLS + c;
        if (known[i]) p = c;
        left[i] = p;
    }
}

__global__ void interpolate(const float* __restrict__ x, const int* __restrict__ left, float* y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const float* row = x + (size_t)r * COLS;
    int q = COLS;
    for (int c = COLS - 1; c >= 0; --c) {
        size_t i = (size_t)r * COLS + c;
        int p = left[i];
        float v;
        if (p == c) {
            q = c;
            v = row[c];
        } else if (p >= 0 && q < COLS) {
            float w = (float)(c - p) / (float)(q - p);
            v = row[p] + w * (row[q] - row[p]);
        } else {
            v = p >= 0 ? row[p] : q < COLS ? row[q] : 0.0f;
        }
        y[i] = v;
    }
}

void run(const float* d_x, const unsigned char* d_known, float* d_y) {
    int* d_left;
    cudaMalloc(&d_left, ROWS * COLS * sizeof(int));
    int blocks = (ROWS + 32 - 1) / 32;
    last_known<<<blocks, 32>>>(d_known, d_left);
    interpolate<<<blocks, 32>>>(d_x, d_left, d_y);
    cudaFree(d_left);
}

int main() {
    std::vector<float> x(ROWS * COLS);
    std::vector<unsigned char> known(ROWS * COLS);
    std::vector<float> y(ROWS * COLS);
    FILE* in_x = fopen("data/x.bin", "rb");
    if (!in_x || fread(x.data(), sizeof(float), ROWS * COLS, in_x) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_x);
    FILE* in_known = fopen("data/known.bin", "rb");
    if (!in_known || fread(known.data(), sizeof(unsigned char), ROWS * COLS, in_known) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "cannot read data/known.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_known);

    float *d_x, *d_y;
    unsigned char* d_known = nullptr;
    cudaMalloc(&d_x, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_known, ROWS * COLS * sizeof(unsigned char));
    cudaMalloc(&d_y, ROWS * COLS * sizeof(float));
    cudaMemcpy(d_x, x.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_known, known.data(), ROWS * COLS * sizeof(unsigned char), cudaMemcpyHostToDevice);

    run(d_x, d_known, d_y);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "CUDA failure: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    cudaMemcpy(y.data(), d_y, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/y.bin", "wb");
    fwrite(y.data(), sizeof(float), ROWS * COLS, out);
    fclose(out);
    cudaFree(d_x);
    cudaFree(d_known);
    cudaFree(d_y);
    return 0;
}
