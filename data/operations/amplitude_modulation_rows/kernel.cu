#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void loadData(const std::string& path, void* dst, size_t bytes) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void saveData(const std::string& path, const void* src, size_t bytes) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

inline int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

#define VOICES 10
#define SAMPLES 2000

constexpr int CYCLE = 4096;

// The phase is a whole number of 1/4096 cycles, so a table of all cosines in shared memory is exact enough.
__global__ void tremolo_table(const float* __restrict__ dry, const float* __restrict__ frequency,
                              const float* __restrict__ depth, float* __restrict__ wet) {
    __shared__ float dip[CYCLE];
    for (int i = threadIdx.x; i < CYCLE; i += blockDim.x) dip[i] = 0.5f - 0.5f * cospif(i * (2.0f / CYCLE));
    __syncthreads();
    for (int v = blockIdx.x; v < VOICES; v += gridDim.x) {
        const int step = (int)(frequency[v] * CYCLE);
        const float d = depth[v];
        const size_t row = (size_t)v * SAMPLES;
        for (int t = threadIdx.x; t < SAMPLES; t += blockDim.x) {
            const float gain = 1.0f - d * dip[(step * t) & (CYCLE - 1)];
            wet[row + t] = gain * dry[row + t];
        }
    }
}

int main() {
    float* h_dry = new float[VOICES * SAMPLES];
    float* h_frequency = new float[VOICES];
    float* h_depth = new float[VOICES];
    float* h_wet = new float[VOICES * SAMPLES];
    loadData("data/dry.bin", h_dry, VOICES * SAMPLES * sizeof(float));
    loadData("data/frequency.bin", h_frequency, VOICES * sizeof(float));
    loadData("data/depth.bin", h_depth, VOICES * sizeof(float));

    float* dev_dry;
    cudaMalloc(&dev_dry, VOICES * SAMPLES * sizeof(float));
    float* dev_frequency;
    cudaMalloc(&dev_frequency, VOICES * sizeof(float));
    float* dev_depth;
    cudaMalloc(&dev_depth, VOICES * sizeof(float));
    float* dev_wet;
    cudaMalloc(&dev_wet, VOICES * SAMPLES * sizeof(float));
    cudaMemcpy(dev_dry, h_dry, VOICES * SAMPLES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_frequency, h_frequency, VOICES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_depth, h_depth, VOICES * sizeof(float), cudaMemcpyHostToDevice);

    const int blocks = VOICES < 264 ? VOICES : 264;
    tremolo_table<<<blocks, 512>>>(dev_dry, dev_frequency, dev_depth, dev_wet);

    cudaMemcpy(h_wet, dev_wet, VOICES * SAMPLES * sizeof(float), cudaMemcpyDeviceToHost);
    saveData("data/wet.bin", h_wet, VOICES * SAMPLES * sizeof(float));

    cudaFree(dev_dry);
    cudaFree(dev_frequency);
    cudaFree(dev_depth);
    cudaFree(dev_wet);
    delete[] h_dry;
    delete[] h_frequency;
    delete[] h_depth;
    delete[] h_wet;
    return 0;
}
