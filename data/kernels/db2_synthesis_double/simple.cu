#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// One thread a sample: two approximation and two detail coefficients reach it.
__global__ void sample(const double* a, const double* d, double* x, int rows, int half) {
    long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long n = 2LL * half;
    if (e >= rows * n) return;
    long long row = e / n * half;
    int m = e % n, i = m / 2, j = i > 0 ? i - 1 : half - 1;
    double s = sqrt(3.0), scale = 1.0 / (4.0 * sqrt(2.0));
    double h[4] = {(1 + s) * scale, (3 + s) * scale, (3 - s) * scale, (1 - s) * scale};
    double sum;
    if (m % 2 == 0) {
        sum = h[0] * a[row + i] + h[2] * a[row + j] + h[3] * d[row + i] + h[1] * d[row + j];
    } else {
        sum = h[1] * a[row + i] + h[3] * a[row + j] - h[2] * d[row + i] - h[0] * d[row + j];
    }
    x[e] = sum;
}

void stop(const char* text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

void gpu(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

void load(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) stop(path);
    fclose(f);
}

int main() {
    int sizes[2];
    load("data/sizes.bin", sizes, sizeof(sizes));
    int rows = sizes[0], half = sizes[1];
    if (rows < 1 || rows > 65535 || half < 2 || half > 131072) stop("data/sizes.bin: out of range");
    size_t count = (size_t)rows * half, bytes = count * sizeof(double);
    std::vector<double> a(count), d(count), x(2 * count);
    load("data/approximation.bin", a.data(), bytes);
    load("data/detail.bin", d.data(), bytes);
    double *da, *dd, *dx;
    gpu(cudaMalloc(&da, bytes));
    gpu(cudaMalloc(&dd, bytes));
    gpu(cudaMalloc(&dx, 2 * bytes));
    gpu(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(dd, d.data(), bytes, cudaMemcpyHostToDevice));
    sample<<<(2 * count + 255) / 256, 256>>>(da, dd, dx, rows, half);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(x.data(), dx, 2 * bytes, cudaMemcpyDeviceToHost));
    gpu(cudaFree(da));
    gpu(cudaFree(dd));
    gpu(cudaFree(dx));
    FILE* f = fopen("data/x.bin", "wb");
    if (!f || fwrite(x.data(), 8, x.size(), f) != x.size() || fclose(f) != 0) stop("data/x.bin: not written");
    return 0;
}
