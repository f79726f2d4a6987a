#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

void readFile(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void writeFile(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

#define N 20000

// From the bit pattern: denormals are scaled into the normal range first.
__global__ void split_bits(const float* __restrict__ x, float* __restrict__ fraction,
        int* __restrict__ exponent, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int u = __float_as_uint(x[i]);
    if ((u << 1) == 0) {
        fraction[i] = x[i];
        exponent[i] = 0;
        return;
    }
    int e = -126;
    if ((u & 0x7f800000u) == 0) {
        const unsigned int sign = u & 0x80000000u;
        const unsigned int mantissa = u & 0x007fffffu;
        const int shift = __clz(mantissa) - 8;
        u = sign | 0x00800000u | ((mantissa << shift) & 0x007fffffu);
        e -= shift;
    }
    e += (u >> 23) & 255;
    fraction[i] = __uint_as_float((u & 0x807fffffu) | 0x3f000000u);
    exponent[i] = e;
}

int main() {
    float* x = new float[N];
    float* fraction = new float[N];
    int* exponent = new int[N];
    readFile("data/x.bin", x, N * sizeof(float));

    float *d_x, *d_fraction;
    int* d_exponent;
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMemcpy(d_x, x, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_fraction, N * sizeof(float));
    cudaMalloc(&d_exponent, N * sizeof(int));

    split_bits<<<DIV_UP(N, 128), 128>>>(d_x, d_fraction, d_exponent, N);
    cudaError_t rc = cudaGetLastError();
    if (rc != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(rc));
        return 1;
    }
    cudaMemcpy(fraction, d_fraction, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(exponent, d_exponent, N * sizeof(int), cudaMemcpyDeviceToHost);
    writeFile("data/fraction.bin", fraction, N * sizeof(float));
    writeFile("data/exponent.bin", exponent, N * sizeof(int));
    cudaFree(d_x);
    cudaFree(d_fraction);
    cudaFree(d_exponent);
    delete[] x;
    delete[] fraction;
    delete[] exponent;
    return 0;
}
