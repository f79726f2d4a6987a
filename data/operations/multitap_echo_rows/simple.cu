#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 6;
constexpr int SAMPLES = 4000;
constexpr int TAPS = 5;

__global__ void add_echoes(const float* dry, const int* delay, const float* gain, float* wet) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS * SAMPLES) return;
    int t = i % SAMPLES;
    float sum = dry[i];
    for (int k = 0; k < TAPS; ++k) {
        if (delay[k] <= t) sum += gain[k] * dry[i - delay[k]];
    }
    wet[i] = sum;
}

__global__ void row_peaks(const float* wet, float* peak) {
    __shared__ float best[256];
    float m = 0.0f;
    for (int t = threadIdx.x; t < SAMPLES; t += 256) m = fmaxf(m, fabsf(wet[blockIdx.x * SAMPLES + t]));
    best[threadIdx.x] = m;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) peak[blockIdx.x] = best[0];
}

int main() {
    const int count_dry = ROWS * SAMPLES;
    std::vector<float> h_dry(count_dry);
    std::vector<int> h_delay(TAPS);
    std::vector<float> h_gain(TAPS);
    std::vector<float> h_wet(count_dry);
    std::vector<float> h_peak(ROWS);
    std::ifstream f_dry("data/dry.bin", std::ios::binary);
    if (!f_dry.read(reinterpret_cast<char*>(h_dry.data()), count_dry * sizeof(float))) {
        std::cerr << "failed to read data/dry.bin" << std::endl;
        return 1;
    }
    std::ifstream f_delay("data/delay.bin", std::ios::binary);
    if (!f_delay.read(reinterpret_cast<char*>(h_delay.data()), TAPS * sizeof(int))) {
        std::cerr << "failed to read data/delay.bin" << std::endl;
        return 1;
    }
    std::ifstream f_gain("data/gain.bin", std::ios::binary);
    f_gain.read(reinterpret_cast<char*>(h_gain.data()), TAPS * sizeof(float));
    if (!f_gain) {
        std::cerr << "failed to read data/gain.bin" << std::endl;
        return 1;
    }

    float* d_dry;
    cudaMalloc(&d_dry, count_dry * sizeof(float));
    int* d_delay;
    cudaMalloc(&d_delay, TAPS * sizeof(int));
    float* d_gain;
    cudaMalloc(&d_gain, TAPS * sizeof(float));
    float* d_wet;
    cudaMalloc(&d_wet, count_dry * sizeof(float));
    float* d_peak;
    cudaMalloc(&d_peak, ROWS * sizeof(float));
    cudaMemcpy(d_dry, h_dry.data(), count_dry * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_delay, h_delay.data(), TAPS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain.data(), TAPS * sizeof(float), cudaMemcpyHostToDevice);

    add_echoes<<<(ROWS * SAMPLES + 255) / 256, 256>>>(d_dry, d_delay, d_gain, d_wet);
    row_peaks<<<ROWS, 256>>>(d_wet, d_peak);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_wet.data(), d_wet, count_dry * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_peak.data(), d_peak, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_wet("data/wet.bin", std::ios::binary);
    out_wet.write(reinterpret_cast<char*>(h_wet.data()), count_dry * sizeof(float));
    std::ofstream out_peak("data/peak.bin", std::ios::binary);
    out_peak.write(reinterpret_cast<char*>(h_peak.data()), ROWS * sizeof(float));

    cudaFree(d_dry);
    cudaFree(d_delay);
    cudaFree(d_gain);
    cudaFree(d_wet);
    cudaFree(d_peak);
    return 0;
}
