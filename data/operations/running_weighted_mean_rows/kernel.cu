#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float* data, size_t size) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(data), size * sizeof(float))) {
        std::cerr << "Error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void write_binary(const std::string& path, const float* data, size_t size) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), size * sizeof(float));
}
//@given

#define ROWS 45
#define COLS 400
#define BLOCK 256

// Hillis-Steele scan of 256 columns at a time for both sums; the totals are carried to the next piece of the row.
__global__ void running_mean_block(const float* __restrict__ x, const float* __restrict__ w,
    float* __restrict__ mean) {
    __shared__ float2 sums[2][BLOCK];
    size_t base = (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    float2 carry = make_float2(0.0f, 0.0f);
    for (int start = 0; start < COLS; start += BLOCK) {
        int c = start + t;
        int from = 0;
        float2 v = make_float2(0.0f, 0.0f);
        if (c < COLS) v = make_float2(w[base + c] * x[base + c], w[base + c]);
        sums[0][t] = v;
        __syncthreads();
        for (int s = 1; s < BLOCK; s *= 2) {
            if (t >= s) {
                v.x += sums[from][t - s].x;
                v.y += sums[from][t - s].y;
            }
            sums[1 - from][t] = v;
            from = 1 - from;
            __syncthreads();
        }
        float weights = carry.y + v.y;
        if (c < COLS) mean[base + c] = weights > 0.0f ? (carry.x + v.x) / weights : 0.0f;
        carry.x += sums[from][BLOCK - 1].x;
        carry.y += sums[from][BLOCK - 1].y;
        __syncthreads();
    }
}

int main() {
    const size_t count = (size_t)ROWS * COLS;
    float* h_x = new float[count];
    float* h_w = new float[count];
    float* h_mean = new float[count];
    read_binary("data/x.bin", h_x, count);
    read_binary("data/w.bin", h_w, count);

    float* d_x = nullptr;
    float* d_w = nullptr;
    float* d_mean;
    cudaMalloc(&d_x, count * sizeof(float));
    cudaMalloc(&d_w, count * sizeof(float));
    cudaMalloc(&d_mean, count * sizeof(float));
    cudaMemcpy(d_x, h_x, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_w, h_w, count * sizeof(float), cudaMemcpyHostToDevice);

    running_mean_block<<<ROWS, BLOCK>>>(d_x, d_w, d_mean);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_mean, d_mean, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/mean.bin", h_mean, count);

    cudaFree(d_x);
    cudaFree(d_w);
    cudaFree(d_mean);
    delete[] h_x;
    delete[] h_w;
    delete[] h_mean;
    return 0;
}
