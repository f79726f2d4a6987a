#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int SAMPLES = 1000;
constexpr int CHANNELS = 8;

__global__ void teager(const float* x, float* energy) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= SAMPLES * CHANNELS) return;
    int t = i / CHANNELS;
    int c = i % CHANNELS;
    if (t == 0) t = 1;
    if (t == SAMPLES - 1) t = SAMPLES - 2;
    int k = t * CHANNELS + c;
    energy[i] = x[k] * x[k] - x[k - CHANNELS] * x[k + CHANNELS];
}

__global__ void channel_mean(const float* energy, float* average) {
    __shared__ float part[256];
    int c = blockIdx.x;
    float sum = 0.0f;
    for (int t = threadIdx.x; t < SAMPLES; t += 256) sum += energy[t * CHANNELS + c];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) average[c] = part[0] / SAMPLES;
}

int main() {
    const size_t num_x = SAMPLES * CHANNELS;
    std::vector<float> h_x(num_x);
    std::vector<float> h_energy(num_x);
    std::vector<float> h_average(CHANNELS);
    std::ifstream file_x("data/x.bin", std::ios::binary);
    file_x.read((char*)h_x.data(), num_x * sizeof(float));
    if (!file_x) {
        std::cerr << "data/x.bin: read error" << std::endl;
        return 1;
    }

    float* d_x;
    cudaMalloc(&d_x, num_x * sizeof(float));
    float* d_energy;
    cudaMalloc(&d_energy, num_x * sizeof(float));
    float* d_average;
    cudaMalloc(&d_average, CHANNELS * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), num_x * sizeof(float), cudaMemcpyHostToDevice);

    teager<<<(SAMPLES * CHANNELS + 255) / 256, 256>>>(d_x, d_energy);
    channel_mean<<<CHANNELS, 256>>>(d_energy, d_average);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_energy.data(), d_energy, num_x * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_average.data(), d_average, CHANNELS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_energy("data/energy.bin", std::ios::binary);
    out_energy.write((char*)h_energy.data(), num_x * sizeof(float));
    std::ofstream out_average("data/average.bin", std::ios::binary);
    out_average.write((char*)h_average.data(), CHANNELS * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_energy);
    cudaFree(d_average);
}
