#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readFile(const std::string& name, float* dst, size_t count) {
    std::ifstream in(name, std::ios::binary);
    if (!in) {
        std::cerr << "cannot open " << name << std::endl;
        std::exit(1);
    }
    in.read(reinterpret_cast<char*>(dst), count * sizeof(float));
    if (!in) {
        std::cerr << name << " is too short" << std::endl;
        std::exit(1);
    }
}

void writeFile(const std::string& name, const float* dst, size_t count) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), count * sizeof(float));
}
//@given

constexpr int kChannels = 3;
constexpr int kHeight = 70;
constexpr int kWidth = 110;

__global__ void grade(const float* image, const float* lift, const float* gamma, const float* gain, float* out,
        int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = i / (kHeight * kWidth);
    float x = image[i];
    float t = gain[c] * (x + lift[c] * (1.0f - x));
    t = fminf(fmaxf(t, 0.0f), 1.0f);
    out[i] = powf(t, 1.0f / gamma[c]);
}

int main() {
    const int n = kChannels * kHeight * kWidth;

    float* h_image = new float[n];
    float* h_lift = new float[kChannels];
    float* h_gamma = new float[kChannels];
    float* h_gain = new float[kChannels];
    float* h_graded = new float[n];
    readFile("data/image.bin", h_image, n);
    readFile("data/lift.bin", h_lift, kChannels);
    readFile("data/gamma.bin", h_gamma, kChannels);
    readFile("data/gain.bin", h_gain, kChannels);

    float* d_image = nullptr;
    float* d_lift = nullptr;
    float* d_gamma = nullptr;
    float* d_gain = nullptr;
    float* d_graded = nullptr;
    cudaMalloc(&d_image, n * sizeof(float));
    cudaMalloc(&d_lift, kChannels * sizeof(float));
    cudaMalloc(&d_gamma, kChannels * sizeof(float));
    cudaMalloc(&d_gain, kChannels * sizeof(float));
    cudaMalloc(&d_graded, n * sizeof(float));
    cudaMemcpy(d_image, h_image, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lift, h_lift, kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gamma, h_gamma, kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain, kChannels * sizeof(float), cudaMemcpyHostToDevice);

    const int samples = kChannels * kHeight * kWidth;
    grade<<<(samples + 255) / 256, 256>>>(d_image, d_lift, d_gamma, d_gain, d_graded, samples);

    cudaMemcpy(h_graded, d_graded, n * sizeof(float), cudaMemcpyDeviceToHost);
    writeFile("data/graded.bin", h_graded, n);

    delete[] h_image;
    delete[] h_lift;
    delete[] h_gamma;
    delete[] h_gain;
    delete[] h_graded;
    cudaFree(d_image);
    cudaFree(d_lift);
    cudaFree(d_gamma);
    cudaFree(d_gain);
    cudaFree(d_graded);
    return 0;
}
