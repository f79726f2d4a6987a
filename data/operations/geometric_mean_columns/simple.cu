#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void read_data(const std::string& path, float* dst, size_t n) {
    FILE* f = fopen(path.c_str(), "rb");
    if (f == nullptr || fread(dst, 1, n * sizeof(float), f) != n * sizeof(float)) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void write_data(const std::string& path, const float* dst, size_t n) {
    FILE* f = fopen(path.c_str(), "wb");
    if (f == nullptr || fwrite(dst, 1, n * sizeof(float), f) != n * sizeof(float)) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

#define ROWS 200
#define COLS 130

__global__ void geometric_mean(const float* x, float* gmean) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    float sum = 0.0f;
    for (int r = 0; r < ROWS; ++r) {
        sum += logf(x[(size_t)r * COLS + c]);
    }
    gmean[c] = expf(sum / ROWS);
}

int main() {
    const size_t numel = (size_t)ROWS * COLS;
    float* h_x = new float[numel];
    float* h_gmean = new float[COLS];
    read_data("data/x.bin", h_x, numel);

    float* d_x;
    float* d_gmean;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_gmean, COLS * sizeof(float));
    cudaMemcpy(d_x, h_x, numel * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 128;
    geometric_mean<<<(COLS + threads - 1) / threads, threads>>>(d_x, d_gmean);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_gmean, d_gmean, COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_data("data/gmean.bin", h_gmean, COLS);

    cudaFree(d_x);
    cudaFree(d_gmean);
    delete[] h_x;
    delete[] h_gmean;
    return 0;
}
