#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int CHANNELS = 2;
constexpr int SAMPLES = 9000;

constexpr int THREADS = 256;
constexpr int PER_BLOCK = 4096;

__global__ void dither_chunks(const float* __restrict__ signal, const float* __restrict__ noise,
                              short* __restrict__ pcm, int* overloads) {
    const size_t row = (size_t)blockIdx.y * SAMPLES;
    const int first = blockIdx.x * PER_BLOCK;
    int count = 0;
    for (int k = 0; k < PER_BLOCK; k += THREADS) {
        const int t = first + k + threadIdx.x;
        bool over = false;
        if (t < SAMPLES) {
            const float before = t > 0 ? noise[row + t - 1] : 0.0f;
            const float v = rintf(fmaf(signal[row + t], 32768.0f, noise[row + t] - before));
            const float limited = fminf(fmaxf(v, -32768.0f), 32767.0f);
            over = limited != v;
            pcm[row + t] = (short)limited;
        }
        count += __syncthreads_count(over);
    }
    // one atomic per block
    if (threadIdx.x == 0 && count > 0) atomicAdd(&overloads[blockIdx.y], count);
}

int main() {
    const int n_signal = CHANNELS * SAMPLES;
    std::vector<float> h_signal(n_signal);
    std::vector<float> h_noise(n_signal);
    std::vector<short> h_pcm(n_signal);
    std::vector<int> h_overloads(CHANNELS);
    std::ifstream file_signal("data/signal.bin", std::ios::binary);
    if (!file_signal.read(reinterpret_cast<char*>(h_signal.data()), n_signal * sizeof(float))) {
        std::cerr << "error reading data/signal.bin" << std::endl;
        return 1;
    }
    std::ifstream file_noise("data/noise.bin", std::ios::binary);
    if (!file_noise.read(reinterpret_cast<char*>(h_noise.data()), n_signal * sizeof(float))) {
        std::cerr << "error reading data/noise.bin" << std::endl;
        return 1;
    }

    float* d_signal = nullptr;
    cudaMalloc(&d_signal, n_signal * sizeof(float));
    float* d_noise = nullptr;
    cudaMalloc(&d_noise, n_signal * sizeof(float));
    short* d_pcm = nullptr;
    cudaMalloc(&d_pcm, n_signal * sizeof(short));
    int* d_overloads = nullptr;
    cudaMalloc(&d_overloads, CHANNELS * sizeof(int));
    cudaMemcpy(d_signal, h_signal.data(), n_signal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_noise, h_noise.data(), n_signal * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemset(d_overloads, 0, CHANNELS * sizeof(int));
    dim3 grid((SAMPLES + PER_BLOCK - 1) / PER_BLOCK, CHANNELS);
    dither_chunks<<<grid, THREADS>>>(d_signal, d_noise, d_pcm, d_overloads);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_pcm.data(), d_pcm, n_signal * sizeof(short), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_overloads.data(), d_overloads, CHANNELS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_pcm("data/pcm.bin", std::ios::binary);
    out_pcm.write(reinterpret_cast<char*>(h_pcm.data()), n_signal * sizeof(short));
    std::ofstream out_overloads("data/overloads.bin", std::ios::binary);
    out_overloads.write(reinterpret_cast<char*>(h_overloads.data()), CHANNELS * sizeof(int));

    cudaFree(d_signal);
    cudaFree(d_noise);
    cudaFree(d_pcm);
    cudaFree(d_overloads);
    return 0;
}
