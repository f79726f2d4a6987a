#include <cuda_runtime.h>
#include <cstdio>

constexpr int BATCH = 16;
constexpr int N = 513;

__global__ void tridiagonal(const float* lower, const float* diag, const float* upper, const float* x, float* y) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= BATCH * N) return;
    int i = idx % N;
    float sum = diag[i] * x[idx];
    if (i > 0) sum += lower[i] * x[idx - 1];
    if (i < N - 1) sum += upper[i] * x[idx + 1];
    y[idx] = sum;
}

static bool load_into(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    const size_t x_size = (size_t)BATCH * N;
    float *lower, *diag, *upper, *x, *y;
    cudaMallocManaged(&lower, N * sizeof(float));
    cudaMallocManaged(&diag, N * sizeof(float));
    cudaMallocManaged(&upper, N * sizeof(float));
    cudaMallocManaged(&x, x_size * sizeof(float));
    cudaMallocManaged(&y, x_size * sizeof(float));

    if (!load_into("data/lower.bin", lower, N * sizeof(float)) ||
        !load_into("data/diag.bin", diag, N * sizeof(float)) ||
        !load_into("data/upper.bin", upper, N * sizeof(float)) ||
        !load_into("data/x.bin", x, x_size * sizeof(float))) {
        fprintf(stderr, "missing or short input\n");
        return 1;
    }

    tridiagonal<<<(BATCH * N + 255) / 256, 256>>>(lower, diag, upper, x, y);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_y = fopen("data/y.bin", "wb");
    fwrite(y, sizeof(float), x_size, out_y);
    fclose(out_y);

    cudaFree(lower);
    cudaFree(diag);
    cudaFree(upper);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
