#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void loadBinary(const std::string& path, void* dst, size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    file.read(static_cast<char*>(dst), bytes);
    if (!file) {
        std::cerr << "could not load " << path << std::endl;
        exit(1);
    }
}

void saveBinary(const std::string& path, const void* dst, size_t bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(dst), bytes);
}
//@given

const int BATCH = 10;
const int N = 48;
const int THREADS = 128;

__device__ float block_sum(float value, float* buffer) {
    int t = threadIdx.x;
    buffer[t] = value;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (t < s) buffer[t] += buffer[t + s];
        __syncthreads();
    }
    float total = buffer[0];
    __syncthreads();
    return total;
}

// One block per matrix.
__global__ void power_iteration(const float* a, const float* start, float* vector, float* lambda_max) {
    __shared__ float v[N], w[N], buffer[THREADS];
    int t = threadIdx.x;
    const float* m = a + (size_t)blockIdx.x * N * N;
    for (int i = t; i < N; i += THREADS) w[i] = start[blockIdx.x * N + i];
    for (int step = 0; step <= 11; ++step) {
        float part = 0.0f;
        for (int i = t; i < N; i += THREADS) part += step == 11 ? v[i] * w[i] : w[i] * w[i];
        float total = block_sum(part, buffer);
        if (step == 11) {
            if (t == 0) lambda_max[blockIdx.x] = total;
            break;
        }
        for (int i = t; i < N; i += THREADS) v[i] = w[i] / sqrtf(total);
        __syncthreads();
        for (int i = t; i < N; i += THREADS) {
            float sum = 0.0f;
            for (int j = 0; j < N; ++j) sum += m[i * N + j] * v[j];
            w[i] = sum;
        }
        __syncthreads();
    }
    for (int i = t; i < N; i += THREADS) vector[blockIdx.x * N + i] = v[i];
}

int main() {
    const size_t n_a = (size_t)BATCH * N * N;
    const size_t n_start = (size_t)BATCH * N;
    float* a = new float[n_a];
    float* start = new float[n_start];
    float* vector = new float[n_start];
    float* lambda_max = new float[BATCH];
    loadBinary("data/a.bin", a, n_a * sizeof(float));
    loadBinary("data/start.bin", start, n_start * sizeof(float));

    float* dev_a;
    cudaMalloc(&dev_a, n_a * sizeof(float));
    float* dev_start;
    cudaMalloc(&dev_start, n_start * sizeof(float));
    float* dev_vector;
    cudaMalloc((void**)&dev_vector, n_start * sizeof(float));
    float* dev_lambda_max;
    cudaMalloc((void**)&dev_lambda_max, BATCH * sizeof(float));
    cudaMemcpy(dev_a, a, n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_start, start, n_start * sizeof(float), cudaMemcpyHostToDevice);

    power_iteration<<<BATCH, THREADS>>>(dev_a, dev_start, dev_vector, dev_lambda_max);
    cudaDeviceSynchronize();

    cudaMemcpy(vector, dev_vector, n_start * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(lambda_max, dev_lambda_max, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    saveBinary("data/vector.bin", vector, n_start * sizeof(float));
    saveBinary("data/lambda_max.bin", lambda_max, BATCH * sizeof(float));

    cudaFree(dev_a);
    cudaFree(dev_start);
    cudaFree(dev_vector);
    cudaFree(dev_lambda_max);
    delete[] a;
    delete[] start;
    delete[] vector;
    delete[] lambda_max;
    return 0;
}
