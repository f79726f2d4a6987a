#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int FRAMES = 4;
constexpr int PIXELS = 3000;
constexpr int THREADS = 256;

__device__ float wien_temperature(int blue, int red) {
    if (blue < 10 || red < 10) return 0.0f;
    float bottom = 5.0f * logf(0.8f / 0.6f) - logf((float)blue / (float)red);
    if (bottom <= 0.0f) return 5000.0f;
    float t = 14387.77f * (1.0f / 0.6f - 1.0f / 0.8f) / bottom;
    return fminf(fmaxf(t, 500.0f), 5000.0f);
}

__global__ void pyrometer(const unsigned short* blue, const unsigned short* red, float* temperature,
        float* average) {
    __shared__ float sum[THREADS];
    __shared__ int valid[THREADS];
    size_t start = (size_t)blockIdx.x * PIXELS;
    float total = 0.0f;
    int count = 0;
    for (int p = threadIdx.x; p < PIXELS; p += THREADS) {
        float t = wien_temperature((int)blue[start + p] - 64, (int)red[start + p] - 64);
        temperature[start + p] = t;
        total += t;
        if (t > 0.0f) ++count;
    }
    sum[threadIdx.x] = total;
    valid[threadIdx.x] = count;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            sum[threadIdx.x] += sum[threadIdx.x + s];
            valid[threadIdx.x] += valid[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) average[blockIdx.x] = valid[0] > 0 ? sum[0] / valid[0] : 0.0f;
}

int main() {
    std::vector<unsigned short> h_blue(FRAMES * PIXELS);
    std::vector<unsigned short> h_red(FRAMES * PIXELS);
    std::vector<float> h_temperature(FRAMES * PIXELS);
    std::vector<float> h_average(FRAMES);
    std::ifstream file_blue("data/blue.bin", std::ios::binary);
    if (!file_blue.read((char*)h_blue.data(), FRAMES * PIXELS * sizeof(unsigned short))) {
        std::cerr << "cannot read data/blue.bin\n";
        return 1;
    }
    std::ifstream file_red("data/red.bin", std::ios::binary);
    if (!file_red.read((char*)h_red.data(), FRAMES * PIXELS * sizeof(unsigned short))) {
        std::cerr << "cannot read data/red.bin\n";
        return 1;
    }

    unsigned short *d_blue, *d_red;
    float *d_temperature, *d_average;
    cudaMalloc(&d_blue, FRAMES * PIXELS * sizeof(unsigned short));
    cudaMalloc(&d_red, FRAMES * PIXELS * sizeof(unsigned short));
    cudaMalloc(&d_temperature, FRAMES * PIXELS * sizeof(float));
    cudaMalloc(&d_average, FRAMES * sizeof(float));
    cudaMemcpy(d_blue, h_blue.data(), FRAMES * PIXELS * sizeof(unsigned short), cudaMemcpyHostToDevice);
    cudaMemcpy(d_red, h_red.data(), FRAMES * PIXELS * sizeof(unsigned short), cudaMemcpyHostToDevice);

    pyrometer<<<FRAMES, THREADS>>>(d_blue, d_red, d_temperature, d_average);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_temperature.data(), d_temperature, FRAMES * PIXELS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_average.data(), d_average, FRAMES * sizeof(float), cudaMemcpyDeviceToHost);

    cudaFree(d_blue);
    cudaFree(d_red);
    cudaFree(d_temperature);
    cudaFree(d_average);

    std::ofstream out_temperature("data/temperature.bin", std::ios::binary);
    out_temperature.write(reinterpret_cast<const char*>(h_temperature.data()), FRAMES * PIXELS * sizeof(float));
    std::ofstream out_average("data/average.bin", std::ios::binary);
    out_average.write(reinterpret_cast<const char*>(h_average.data()), FRAMES * sizeof(float));
    return 0;
}
