#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// One thread fits one curve; the 3 x 3 system is solved by Cramer's rule.
__device__ double det3(const double m[3][3]) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

__global__ void fitCurves(const double* time, const double* observed, const double* start, double* fitted,
                          double* residual, int curves, int points) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= curves) return;
    const double* y = observed + (size_t)n * points;
    double p[3] = {start[3 * n], start[3 * n + 1], start[3 * n + 2]};
    for (int step = 0; step < 8; ++step) {
        double m[3][3] = {}, g[3] = {};
        for (int i = 0; i < points; ++i) {
            double decay = exp(-p[1] * time[i]);
            double j[3] = {decay, -p[0] * time[i] * decay, 1.0};
            double r = y[i] - p[0] * decay - p[2];
            for (int row = 0; row < 3; ++row) {
                g[row] += j[row] * r;
                for (int col = 0; col < 3; ++col) m[row][col] += j[row] * j[col];
            }
        }
        for (int k = 0; k < 3; ++k) m[k][k] *= 1.001;
        double whole = det3(m), d[3];
        for (int k = 0; k < 3; ++k) {
            double replaced[3][3];
            for (int row = 0; row < 3; ++row)
                for (int col = 0; col < 3; ++col) replaced[row][col] = col == k ? g[row] : m[row][col];
            d[k] = det3(replaced) / whole;
        }
        for (int k = 0; k < 3; ++k) p[k] += d[k];
    }
    double sum = 0;
    for (int i = 0; i < points; ++i) {
        double r = y[i] - p[0] * exp(-p[1] * time[i]) - p[2];
        sum += r * r;
    }
    for (int k = 0; k < 3; ++k) fitted[3 * n + k] = p[k];
    residual[n] = sum;
}

static void must(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t status) { must(status == cudaSuccess, cudaGetErrorString(status)); }

static double* load(const char* path, size_t count) {
    double *host = (double*)malloc(count * 8), *device;
    FILE* f = fopen(path, "rb");
    must(host && f && fread(host, 8, count, f) == count && fgetc(f) == EOF, path);
    fclose(f);
    cuda(cudaMalloc(&device, count * 8));
    cuda(cudaMemcpy(device, host, count * 8, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static void save(const char* path, const double* device, size_t count) {
    double* host = (double*)malloc(count * 8);
    must(host != NULL, "out of memory");
    cuda(cudaMemcpy(host, device, count * 8, cudaMemcpyDeviceToHost));
    FILE* f = fopen(path, "wb");
    must(f && fwrite(host, 8, count, f) == count && fclose(f) == 0, path);
    free(host);
}

int main() {
    int sizes[2];
    FILE* f = fopen("data/sizes.bin", "rb");
    must(f && fread(sizes, sizeof(int), 2, f) == 2 && fgetc(f) == EOF, "data/sizes.bin");
    fclose(f);
    int curves = sizes[0], points = sizes[1];
    must(curves >= 1 && curves <= 200000 && points >= 3 && points <= 1024, "sizes out of range");
    double* time = load("data/time.bin", points);
    double* observed = load("data/observed.bin", (size_t)curves * points);
    double* start = load("data/start.bin", 3 * (size_t)curves);
    double *fitted, *residual;
    cuda(cudaMalloc(&fitted, 3 * (size_t)curves * 8));
    cuda(cudaMalloc(&residual, curves * sizeof(double)));
    fitCurves<<<(curves + 63) / 64, 64>>>(time, observed, start, fitted, residual, curves, points);
    cuda(cudaGetLastError());
    save("data/fitted.bin", fitted, 3 * (size_t)curves);
    save("data/residual.bin", residual, curves);
    return 0;
}
