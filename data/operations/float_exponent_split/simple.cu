#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 20000;

__global__ void split(const float* x, float* fraction, int* exponent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int e;
        fraction[i] = frexpf(x[i], &e);
        exponent[i] = e;
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
    float *x, *fraction;
    int* exponent;
    cudaMallocManaged(&x, kN * sizeof(float));
    cudaMallocManaged(&fraction, kN * sizeof(float));
    cudaMallocManaged(&exponent, kN * sizeof(int));

    if (!fill_from("data/x.bin", x, kN * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    const int block = 256;
    const int grid = (kN + block - 1) / block;
    split<<<grid, block>>>(x, fraction, exponent, kN);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_fraction = fopen("data/fraction.bin", "wb");
    fwrite(fraction, sizeof(float), kN, out_fraction);
    fclose(out_fraction);
    FILE* out_exponent = fopen("data/exponent.bin", "wb");
    fwrite(exponent, sizeof(int), kN, out_exponent);
    fclose(out_exponent);

    cudaFree(x);
    cudaFree(fraction);
    cudaFree(exponent);
    return 0;
}
