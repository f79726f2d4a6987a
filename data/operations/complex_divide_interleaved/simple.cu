#include <cuda_runtime.h>
#include <cstdio>

constexpr int N = 7000;

__global__ void complex_divide(const float* num, const float* den, float* quot, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = num[2 * i], b = num[2 * i + 1];
    float c = den[2 * i], d = den[2 * i + 1];
    if (fabsf(c) >= fabsf(d)) {
        float r = d / c;
        float t = c + d * r;
        quot[2 * i] = (a + b * r) / t;
        quot[2 * i + 1] = (b - a * r) / t;
    } else {
        float r = c / d;
        float t = c * r + d;
        quot[2 * i] = (a * r + b) / t;
        quot[2 * i + 1] = (b * r - a) / t;
    }
}

int main() {
    const size_t count = N * 2;
    float* num = new float[count];
    float* den = new float[count];
    float* quot = new float[count];
    FILE* f = fopen("data/num.bin", "rb");
    if (!f || fread(num, sizeof(float), count, f) != count) return 1;
    fclose(f);
    f = fopen("data/den.bin", "rb");
    if (!f || fread(den, sizeof(float), count, f) != count) return 1;
    fclose(f);
    float *d_num, *d_den, *d_quot;
    cudaMalloc(&d_num, count * sizeof(float));
    cudaMalloc(&d_den, count * sizeof(float));
    cudaMalloc(&d_quot, count * sizeof(float));
    cudaMemcpy(d_num, num, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_den, den, count * sizeof(float), cudaMemcpyHostToDevice);
    const int threads = 256;
    const int blocks = (N + threads - 1) / threads;
    complex_divide<<<blocks, threads>>>(d_num, d_den, d_quot, N);
    cudaMemcpy(quot, d_quot, count * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/quot.bin", "wb");
    fwrite(quot, sizeof(float), count, f);
    fclose(f);
}
