#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return data;
}

template <typename T>
void write(const std::string& path, const std::vector<T>& data) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kFrames = 4;
constexpr int kPixels = 3000;
constexpr int kThreads = 256;
constexpr int kSlices = 16;

// Several blocks work on a frame; their warps add partial sums and counts with atomics.
__global__ void convert(const unsigned short* __restrict__ blue, const unsigned short* __restrict__ red,
                        float* __restrict__ temperature, float* sums, int* counts) {
    const float top = 14387.77f * (1.0f / 0.6f - 1.0f / 0.8f);
    const float offset = 1.43841036f;  // 5 ln(4 / 3)
    const size_t start = (size_t)blockIdx.y * kPixels;
    float total = 0.0f;
    int count = 0;
    for (int p = blockIdx.x * kThreads + threadIdx.x; p < kPixels; p += kSlices * kThreads) {
        int b = (int)blue[start + p] - 64, r = (int)red[start + p] - 64;
        float t = 0.0f;
        if (b >= 10 && r >= 10) {
            float bottom = offset + logf((float)r) - logf((float)b);
            t = bottom > 0.0f ? fminf(fmaxf(top / bottom, 500.0f), 5000.0f) : 5000.0f;
            ++count;
        }
        temperature[start + p] = t;
        total += t;
    }
    for (int d = 16; d > 0; d >>= 1) {
        total += __shfl_down_sync(0xffffffffu, total, d);
        count += __shfl_down_sync(0xffffffffu, count, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[blockIdx.y], total);
        atomicAdd(&counts[blockIdx.y], count);
    }
}

__global__ void average_frames(const float* sums, const int* counts, float* average) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f < kFrames) average[f] = counts[f] > 0 ? sums[f] / counts[f] : 0.0f;
}

int main() {
    const auto h_blue = read<unsigned short>("data/blue.bin", kFrames * kPixels);
    const auto h_red = read<unsigned short>("data/red.bin", kFrames * kPixels);

    unsigned short* d_blue = nullptr;
    unsigned short* d_red = nullptr;
    float* d_temperature = nullptr;
    float* d_average = nullptr;
    float* d_sums = nullptr;
    int* d_counts = nullptr;
    cudaMalloc(&d_blue, kFrames * kPixels * sizeof(unsigned short));
    cudaMalloc(&d_red, kFrames * kPixels * sizeof(unsigned short));
    cudaMalloc(&d_temperature, kFrames * kPixels * sizeof(float));
    cudaMalloc(&d_average, kFrames * sizeof(float));
    cudaMalloc(&d_sums, kFrames * sizeof(float));
    cudaMalloc(&d_counts, kFrames * sizeof(int));
    cudaMemcpy(d_blue, h_blue.data(), kFrames * kPixels * sizeof(unsigned short), cudaMemcpyHostToDevice);
    cudaMemcpy(d_red, h_red.data(), kFrames * kPixels * sizeof(unsigned short), cudaMemcpyHostToDevice);

    cudaMemset(d_sums, 0, kFrames * sizeof(float));
    cudaMemset(d_counts, 0, kFrames * sizeof(int));
    convert<<<dim3(kSlices, kFrames), kThreads>>>(d_blue, d_red, d_temperature, d_sums, d_counts);
    average_frames<<<(kFrames + 63) / 64, 64>>>(d_sums, d_counts, d_average);

    std::vector<float> h_temperature(kFrames * kPixels);
    std::vector<float> h_average(kFrames);
    cudaMemcpy(h_temperature.data(), d_temperature, kFrames * kPixels * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_average.data(), d_average, kFrames * sizeof(float), cudaMemcpyDeviceToHost);
    write("data/temperature.bin", h_temperature);
    write("data/average.bin", h_average);

    cudaFree(d_blue);
    cudaFree(d_red);
    cudaFree(d_temperature);
    cudaFree(d_average);
    cudaFree(d_sums);
    cudaFree(d_counts);
    return 0;
}
