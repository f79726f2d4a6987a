#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, void* data, size_t bytes) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void store(const std::string& path, const void* data, size_t bytes) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

constexpr int ROWS = 100;
constexpr int LENGTH = 30;

constexpr int WARPS = 8;
constexpr int GROUP = 4;  // rows a warp transforms at once

__global__ void hartley_rows(const float* __restrict__ x, float* __restrict__ spectrum) {
    __shared__ float cas[LENGTH];
    for (int i = threadIdx.x; i < LENGTH; i += blockDim.x) {
        float s, c;
        sincospif(2.0f * i / LENGTH, &s, &c);
        cas[i] = c + s;
    }
    __syncthreads();
    int first = (blockIdx.x * WARPS + threadIdx.x / 32) * GROUP;
    for (int k = threadIdx.x % 32; k < LENGTH; k += 32) {
        float sum[GROUP] = {0.0f, 0.0f, 0.0f, 0.0f};
        int turn = 0;
        for (int n = 0; n < LENGTH; ++n) {
            float w = cas[turn];
            for (int g = 0; g < GROUP; ++g) {
                if (first + g < ROWS) sum[g] = fmaf(x[(first + g) * LENGTH + n], w, sum[g]);
            }
            turn += k;
            if (turn >= LENGTH) turn -= LENGTH;
        }
        for (int g = 0; g < GROUP; ++g) {
            if (first + g < ROWS) spectrum[(first + g) * LENGTH + k] = sum[g];
        }
    }
}

int main() {
    float* x = new float[ROWS * LENGTH];
    float* spectrum = new float[ROWS * LENGTH];
    load("data/x.bin", x, ROWS * LENGTH * sizeof(float));

    float* d_x = nullptr;
    float* d_spectrum = nullptr;
    cudaMalloc(&d_x, ROWS * LENGTH * sizeof(float));
    cudaMalloc((void**)&d_spectrum, ROWS * LENGTH * sizeof(float));
    cudaMemcpy(d_x, x, ROWS * LENGTH * sizeof(float), cudaMemcpyHostToDevice);

    int rowsPerBlock = WARPS * GROUP;
    hartley_rows<<<DIV_UP(ROWS, rowsPerBlock), WARPS * 32>>>(d_x, d_spectrum);
    cudaDeviceSynchronize();

    cudaMemcpy(spectrum, d_spectrum, ROWS * LENGTH * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/spectrum.bin", spectrum, ROWS * LENGTH * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_spectrum);
    delete[] x;
    delete[] spectrum;
    return 0;
}
