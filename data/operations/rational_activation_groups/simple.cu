#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

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

static inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

constexpr int kRows = 20;
constexpr int kGroups = 4;
constexpr int kWidth = 100;
constexpr int kCount = kRows * kGroups * kWidth;

__global__ void rational(const float* x, const float* num, const float* den, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int g = (i / kWidth) % kGroups;
    float v = x[i];
    float p = 0.0f;
    for (int k = 5; k >= 0; --k) p = p * v + num[g * 6 + k];
    float q = 0.0f;
    for (int k = 3; k >= 0; --k) q = (q + den[g * 4 + k]) * v;
    y[i] = p / (1.0f + fabsf(q));
}

int main() {
    const int n_num = kGroups * 6;
    const size_t den_count = kGroups * 4;
    float* h_x = new float[kCount];
    float* h_num = new float[n_num];
    float* h_den = new float[den_count];
    float* h_y = new float[kCount];
    readFile("data/x.bin", h_x, kCount * sizeof(float));
    readFile("data/num.bin", h_num, n_num * sizeof(float));
    readFile("data/den.bin", h_den, den_count * sizeof(float));

    float *d_x, *d_num, *d_den, *d_y;
    cudaMalloc(&d_x, kCount * sizeof(float));
    cudaMalloc(&d_num, n_num * sizeof(float));
    cudaMalloc(&d_den, den_count * sizeof(float));
    cudaMalloc(&d_y, kCount * sizeof(float));
    cudaMemcpy(d_x, h_x, kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_num, h_num, n_num * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_den, h_den, den_count * sizeof(float), cudaMemcpyHostToDevice);

    int block_size = 256;
    rational<<<ceil_div(kCount, block_size), block_size>>>(d_x, d_num, d_den, d_y, kCount);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(rc));
        return 1;
    }

    cudaMemcpy(h_y, d_y, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    writeFile("data/y.bin", h_y, kCount * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_num);
    cudaFree(d_den);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_num;
    delete[] h_den;
    delete[] h_y;
    return 0;
}
