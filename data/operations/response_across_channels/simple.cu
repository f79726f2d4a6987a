#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_input(const std::string& path, float* data, size_t size) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), size * sizeof(float));
    if (!file) {
        std::cerr << "short or missing file " << path << "\n";
        exit(1);
    }
}

void write_output(const std::string& path, const float* data, size_t size) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), size * sizeof(float));
}
//@given

const int BATCH = 2;
const int CHANNELS = 24;
const int PIXELS = 300;

__global__ void lrn(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BATCH * CHANNELS * PIXELS) return;
    int c = (i / PIXELS) % CHANNELS;
    float sum = 0.0f;
    for (int d = -2; d <= 2; ++d) {
        if (c + d < 0 || c + d >= CHANNELS) continue;
        float v = x[i + d * PIXELS];
        sum += v * v;
    }
    y[i] = x[i] / powf(2.0f + 0.1f * sum, 0.75f);
}

int main() {
    const size_t n_total = (size_t)BATCH * CHANNELS * PIXELS;
    float* h_x = new float[n_total];
    float* h_y = new float[n_total];
    read_input("data/x.bin", h_x, n_total);

    float* d_x;
    float* d_y;
    cudaMalloc(&d_x, n_total * sizeof(float));
    cudaMalloc(&d_y, n_total * sizeof(float));
    cudaMemcpy(d_x, h_x, n_total * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    lrn<<<(BATCH * CHANNELS * PIXELS + threads - 1) / threads, threads>>>(d_x, d_y);
    cudaDeviceSynchronize();

    cudaMemcpy(h_y, d_y, n_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_output("data/y.bin", h_y, n_total);

    cudaFree(d_x);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_y;
    return 0;
}
