#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int SAMPLES = 3000;
const int CHANNELS = 6;

// Block c works on channel c, D samples at a time.
__global__ void allpass(const float* x, const int* delay, const float* gain, float* y) {
    int c = blockIdx.x;
    int d = delay[c];
    float g = gain[c];
    for (int start = 0; start < SAMPLES; start += d) {
        int end = min(start + d, SAMPLES);
        for (int t = start + threadIdx.x; t < end; t += blockDim.x) {
            float v = -g * x[t * CHANNELS + c];
            if (t >= d) v += x[(t - d) * CHANNELS + c] + g * y[(t - d) * CHANNELS + c];
            y[t * CHANNELS + c] = v;
        }
        __syncthreads();
    }
}

int main() {
    std::vector<float> h_x(SAMPLES * CHANNELS);
    std::vector<int> h_delay(CHANNELS);
    std::vector<float> h_gain(CHANNELS);
    std::vector<float> h_y(SAMPLES * CHANNELS);
    std::ifstream f_x("data/x.bin", std::ios::binary);
    if (!f_x.read((char*)h_x.data(), SAMPLES * CHANNELS * sizeof(float))) {
        std::cerr << "failed to read data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream f_delay("data/delay.bin", std::ios::binary);
    if (!f_delay.read((char*)h_delay.data(), CHANNELS * sizeof(int))) {
        std::cerr << "failed to read data/delay.bin" << std::endl;
        return 1;
    }
    std::ifstream f_gain("data/gain.bin", std::ios::binary);
    f_gain.read((char*)h_gain.data(), CHANNELS * sizeof(float));
    if (!f_gain) {
        std::cerr << "failed to read data/gain.bin" << std::endl;
        return 1;
    }

    float* d_x = nullptr;
    cudaMalloc(&d_x, SAMPLES * CHANNELS * sizeof(float));
    int* d_delay = nullptr;
    cudaMalloc(&d_delay, CHANNELS * sizeof(int));
    float* d_gain = nullptr;
    cudaMalloc(&d_gain, CHANNELS * sizeof(float));
    float* d_y = nullptr;
    cudaMalloc(&d_y, SAMPLES * CHANNELS * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), SAMPLES * CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_delay, h_delay.data(), CHANNELS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    allpass<<<CHANNELS, 128>>>(d_x, d_delay, d_gain, d_y);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, SAMPLES * CHANNELS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/y.bin", std::ios::binary);
    out.write((char*)h_y.data(), SAMPLES * CHANNELS * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_delay);
    cudaFree(d_gain);
    cudaFree(d_y);
    return 0;
}
