#include <cuda_runtime.h>
#include <cstdio>

#define COUNT 100
#define N 8

__global__ void commutator(const float* a, const float* b, float* c) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= COUNT * N * N) return;
    int j = idx % N;
    int i = idx / N % N;
    int base = idx - i * N - j;
    float sum = 0.0f;
    for (int k = 0; k < N; ++k) {
        sum += a[base + i * N + k] * b[base + k * N + j];
        sum -= b[base + i * N + k] * a[base + k * N + j];
    }
    c[idx] = sum;
}

int main() {
    const size_t a_size = (size_t)COUNT * N * N;
    float *a, *b, *c;
    cudaMallocManaged(&a, a_size * sizeof(float));
    cudaMallocManaged(&b, a_size * sizeof(float));
    cudaMallocManaged(&c, a_size * sizeof(float));

    FILE* file_a = fopen("data/a.bin", "rb");
    if (!file_a || fread(a, 1, a_size * sizeof(float), file_a) != a_size * sizeof(float)) {
        fprintf(stderr, "data/a.bin?\n");
        return 1;
    }
    fclose(file_a);
    FILE* file_b = fopen("data/b.bin", "rb");
    if (!file_b || fread(b, 1, a_size * sizeof(float), file_b) != a_size * sizeof(float)) {
        fprintf(stderr, "data/b.bin?\n");
        return 1;
    }
    fclose(file_b);

    commutator<<<(COUNT * N * N + 255) / 256, 256>>>(a, b, c);
    cudaDeviceSynchronize();

    FILE* out_c = fopen("data/c.bin", "wb");
    fwrite(c, sizeof(float), a_size, out_c);
    fclose(out_c);

    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return 0;
}
