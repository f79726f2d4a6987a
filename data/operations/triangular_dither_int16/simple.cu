#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "could not load " << path << '\n';
        std::exit(1);
    }
}

void write_binary(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

constexpr int CHANNELS = 2;
constexpr int SAMPLES = 9000;

__global__ void dither(const float* signal, const float* noise, short* pcm, int* overloads) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;
    if (t >= SAMPLES) return;
    size_t i = (size_t)c * SAMPLES + t;
    float d = noise[i];
    if (t > 0) d -= noise[i - 1];
    int v = __float2int_rn(signal[i] * 32768.0f + d);
    if (v > 32767 || v < -32768) {
        atomicAdd(&overloads[c], 1);
        v = v > 0 ? 32767 : -32768;
    }
    pcm[i] = (short)v;
}

int main() {
    float* signal = new float[CHANNELS * SAMPLES];
    float* noise = new float[CHANNELS * SAMPLES];
    short* pcm = new short[CHANNELS * SAMPLES];
    int* overloads = new int[CHANNELS];
    read_binary("data/signal.bin", signal, sizeof(float) * CHANNELS * SAMPLES);
    read_binary("data/noise.bin", noise, sizeof(float) * CHANNELS * SAMPLES);

    float* dev_signal;
    cudaMalloc(&dev_signal, sizeof(float) * CHANNELS * SAMPLES);
    float* dev_noise;
    cudaMalloc(&dev_noise, sizeof(float) * CHANNELS * SAMPLES);
    short* dev_pcm;
    cudaMalloc(&dev_pcm, sizeof(short) * CHANNELS * SAMPLES);
    int* dev_overloads;
    cudaMalloc(&dev_overloads, sizeof(int) * CHANNELS);
    cudaMemcpy(dev_signal, signal, sizeof(float) * CHANNELS * SAMPLES, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_noise, noise, sizeof(float) * CHANNELS * SAMPLES, cudaMemcpyHostToDevice);

    cudaMemset(dev_overloads, 0, CHANNELS * sizeof(int));
    dim3 grid(CEIL_DIV(SAMPLES, 256), CHANNELS);
    dither<<<grid, 256>>>(dev_signal, dev_noise, dev_pcm, dev_overloads);
    cudaDeviceSynchronize();

    cudaMemcpy(pcm, dev_pcm, sizeof(short) * CHANNELS * SAMPLES, cudaMemcpyDeviceToHost);
    cudaMemcpy(overloads, dev_overloads, sizeof(int) * CHANNELS, cudaMemcpyDeviceToHost);
    write_binary("data/pcm.bin", pcm, sizeof(short) * CHANNELS * SAMPLES);
    write_binary("data/overloads.bin", overloads, sizeof(int) * CHANNELS);

    cudaFree(dev_signal);
    cudaFree(dev_noise);
    cudaFree(dev_pcm);
    cudaFree(dev_overloads);
    delete[] signal;
    delete[] noise;
    delete[] pcm;
    delete[] overloads;
    return 0;
}
