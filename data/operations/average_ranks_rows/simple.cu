#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>

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

#define ROWS 150
#define WIDTH 50

__global__ void average_ranks(const float* x, float* ranks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS * WIDTH) return;
    const float* row = x + (size_t)(i / WIDTH) * WIDTH;
    float v = x[i];
    int less = 0, equal = 0;
    for (int j = 0; j < WIDTH; ++j) {
        if (row[j] < v) ++less;
        else if (row[j] == v) ++equal;
    }
    ranks[i] = less + 0.5f * (equal + 1);
}

int main() {
    float* h_x = new float[ROWS * WIDTH];
    float* h_ranks = new float[ROWS * WIDTH];
    read_data("data/x.bin", h_x, ROWS * WIDTH);

    float *d_x, *d_ranks;
    cudaMalloc(&d_x, ROWS * WIDTH * sizeof(float));
    cudaMalloc(&d_ranks, ROWS * WIDTH * sizeof(float));
    cudaMemcpy(d_x, h_x, ROWS * WIDTH * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    average_ranks<<<(ROWS * WIDTH + threads - 1) / threads, threads>>>(d_x, d_ranks);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_ranks, d_ranks, ROWS * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    write_data("data/ranks.bin", h_ranks, ROWS * WIDTH);

    cudaFree(d_x);
    cudaFree(d_ranks);
    delete[] h_x;
    delete[] h_ranks;
    return 0;
}
