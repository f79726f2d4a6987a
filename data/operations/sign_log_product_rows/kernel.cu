#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void read_data(const std::string& path, T* buffer, size_t n) {
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) {
        std::cerr << "Cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(buffer), n * sizeof(T));
}

template <typename T>
void write_data(const std::string& path, const T* buffer, size_t n) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buffer), n * sizeof(T));
}
//@given

const int ROWS = 70;
const int COLS = 300;
const int BLOCK = 128;

__global__ void sign_log_product(const float* __restrict__ x, int* __restrict__ sign, float* __restrict__ logabs) {
    __shared__ float logs[BLOCK / 32];
    const float* row = x + (size_t)blockIdx.x * COLS;
    float sum = 0.0f;
    int negatives = 0, zeros = 0;
    for (int c = threadIdx.x; c < COLS; c += BLOCK) {
        float v = row[c];
        negatives += v < 0.0f;
        zeros += v == 0.0f;
        sum += v == 0.0f ? 0.0f : logf(fabsf(v));
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x % 32 == 0) logs[threadIdx.x / 32] = sum;
    int odd = __syncthreads_count(negatives & 1) & 1;
    int any_zero = __syncthreads_or(zeros);
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; ++w) sum += logs[w];
        sign[blockIdx.x] = any_zero ? 0 : 1 - 2 * odd;
        logabs[blockIdx.x] = any_zero ? 0.0f : sum;
    }
}

int main() {
    const size_t n = (size_t)ROWS * COLS;
    float* h_x = new float[n];
    int* h_sign = new int[ROWS];
    float* h_logabs = new float[ROWS];
    read_data("data/x.bin", h_x, n);

    float* d_x;
    float* d_logabs;
    int* d_sign;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_sign, ROWS * sizeof(int));
    cudaMalloc(&d_logabs, ROWS * sizeof(float));
    cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);

    sign_log_product<<<ROWS, BLOCK>>>(d_x, d_sign, d_logabs);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_sign, d_sign, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_logabs, d_logabs, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_data("data/sign.bin", h_sign, ROWS);
    write_data("data/logabs.bin", h_logabs, ROWS);

    cudaFree(d_x);
    cudaFree(d_sign);
    cudaFree(d_logabs);
    delete[] h_x;
    delete[] h_sign;
    delete[] h_logabs;
    return 0;
}
