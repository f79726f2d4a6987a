#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 70;
constexpr int COLS = 300;
constexpr int BLOCK = 256;

__global__ void sign_log_product(const float* x, int* sign, float* logabs) {
    __shared__ float logs[BLOCK];
    __shared__ int signs[BLOCK];
    const float* row = x + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    float sum = 0.0f;
    int s = 1;
    for (int c = t; c < COLS; c += BLOCK) {
        float v = row[c];
        if (v == 0.0f) {
            s = 0;
        } else {
            sum += logf(fabsf(v));
            if (v < 0.0f) s = -s;
        }
    }
    logs[t] = sum;
    signs[t] = s;
    __syncthreads();
    for (int h = BLOCK / 2; h > 0; h /= 2) {
        if (t < h) {
            logs[t] += logs[t + h];
            signs[t] *= signs[t + h];
        }
        __syncthreads();
    }
    if (t == 0) {
        sign[blockIdx.x] = signs[0];
        logabs[blockIdx.x] = signs[0] == 0 ? 0.0f : logs[0];
    }
}

static void launch_sign(const float* dev_x, int* dev_sign, float* dev_logabs) {
    sign_log_product<<<ROWS, BLOCK>>>(dev_x, dev_sign, dev_logabs);
}

int main() {
    const size_t elements = (size_t)ROWS * COLS;
    std::vector<float> h_x(elements);
    std::vector<int> h_sign(ROWS);
    std::vector<float> h_logabs(ROWS);
    std::ifstream in("data/x.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(h_x.data()), elements * sizeof(float))) {
        std::cerr << "no data/x.bin\n";
        return 1;
    }

    float* dev_x = nullptr;
    float* dev_logabs = nullptr;
    int* dev_sign;
    cudaMalloc(&dev_x, elements * sizeof(float));
    cudaMalloc(&dev_sign, ROWS * sizeof(int));
    cudaMalloc(&dev_logabs, ROWS * sizeof(float));
    cudaMemcpy(dev_x, h_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    launch_sign(dev_x, dev_sign, dev_logabs);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_sign.data(), dev_sign, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_logabs.data(), dev_logabs, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_sign("data/sign.bin", std::ios::binary);
    out_sign.write(reinterpret_cast<const char*>(h_sign.data()), ROWS * sizeof(int));
    std::ofstream out_logabs("data/logabs.bin", std::ios::binary);
    out_logabs.write(reinterpret_cast<const char*>(h_logabs.data()), ROWS * sizeof(float));
    cudaFree(dev_x);
    cudaFree(dev_sign);
    cudaFree(dev_logabs);
    return 0;
}
