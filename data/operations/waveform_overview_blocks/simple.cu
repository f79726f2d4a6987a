#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load_array(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "could not load " << path << std::endl;
        std::exit(1);
    }
}

void save_array(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
constexpr int TRACKS = 3;
constexpr int SAMPLES = 9999;

const int BLOCKS = (SAMPLES + 499) / 500;

__global__ void overview(const float* audio, float* low, float* high, float* level) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TRACKS * BLOCKS) return;
    int track = i / BLOCKS;
    int first = (i % BLOCKS) * 500;
    int last = min(first + 500, SAMPLES);
    const float* x = audio + (size_t)track * SAMPLES;
    float lo = x[first], hi = x[first], square = 0.0f;
    for (int t = first; t < last; ++t) {
        lo = fminf(lo, x[t]);
        hi = fmaxf(hi, x[t]);
        square += x[t] * x[t];
    }
    low[i] = lo;
    high[i] = hi;
    level[i] = sqrtf(square / (last - first));
}

int main() {
    float* h_audio = new float[TRACKS * SAMPLES];
    float* h_low = new float[TRACKS * BLOCKS];
    float* h_high = new float[TRACKS * BLOCKS];
    float* h_level = new float[TRACKS * BLOCKS];
    load_array("data/audio.bin", h_audio, TRACKS * SAMPLES * sizeof(float));

    float* dev_audio;
    cudaMalloc(&dev_audio, TRACKS * SAMPLES * sizeof(float));
    float* dev_low;
    cudaMalloc(&dev_low, TRACKS * BLOCKS * sizeof(float));
    float* dev_high;
    cudaMalloc(&dev_high, TRACKS * BLOCKS * sizeof(float));
    float* dev_level;
    cudaMalloc(&dev_level, TRACKS * BLOCKS * sizeof(float));
    cudaMemcpy(dev_audio, h_audio, TRACKS * SAMPLES * sizeof(float), cudaMemcpyHostToDevice);

    overview<<<DIV_UP(TRACKS * BLOCKS, 128), 128>>>(dev_audio, dev_low, dev_high, dev_level);
    cudaDeviceSynchronize();

    cudaMemcpy(h_low, dev_low, TRACKS * BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_high, dev_high, TRACKS * BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_level, dev_level, TRACKS * BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/low.bin", h_low, TRACKS * BLOCKS * sizeof(float));
    save_array("data/high.bin", h_high, TRACKS * BLOCKS * sizeof(float));
    save_array("data/level.bin", h_level, TRACKS * BLOCKS * sizeof(float));

    cudaFree(dev_audio);
    cudaFree(dev_low);
    cudaFree(dev_high);
    cudaFree(dev_level);
    delete[] h_audio;
    delete[] h_low;
    delete[] h_high;
    delete[] h_level;
    return 0;
}
