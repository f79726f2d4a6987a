#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int CHANNELS = 3;
const int HEIGHT = 60;
const int WIDTH = 80;

__global__ void devignette(const float* image, const float* coefficients, float* corrected) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int c = blockIdx.z;
    if (x >= WIDTH || y >= HEIGHT) return;
    float cx = 0.5f * (WIDTH - 1), cy = 0.5f * (HEIGHT - 1);
    float dx = x - cx, dy = y - cy;
    float t = (dx * dx + dy * dy) / (cx * cx + cy * cy);
    const float* k = coefficients + 3 * c;
    float f = 1.0f + k[0] * t + k[1] * t * t + k[2] * t * t * t;
    size_t at = ((size_t)c * HEIGHT + y) * WIDTH + x;
    corrected[at] = image[at] / fmaxf(f, 0.2f);
}

int main() {
    const size_t num_image = CHANNELS * HEIGHT * WIDTH;
    const size_t num_coefficients = (size_t)CHANNELS * 3;
    std::vector<float> h_image(num_image);
    std::vector<float> h_coefficients(num_coefficients);
    std::vector<float> h_corrected(num_image);

    std::ifstream in_image("data/image.bin", std::ios::binary);
    in_image.read(reinterpret_cast<char*>(h_image.data()), num_image * sizeof(float));
    if (!in_image) {
        std::cerr << "could not read data/image.bin" << std::endl;
        return 1;
    }
    std::ifstream in_coefficients("data/coefficients.bin", std::ios::binary);
    in_coefficients.read(reinterpret_cast<char*>(h_coefficients.data()), num_coefficients * sizeof(float));
    if (!in_coefficients) {
        std::cerr << "could not read data/coefficients.bin" << std::endl;
        return 1;
    }

    float *d_image = nullptr, *d_coefficients = nullptr, *d_corrected = nullptr;
    cudaMalloc(&d_image, num_image * sizeof(float));
    cudaMalloc(&d_coefficients, num_coefficients * sizeof(float));
    cudaMalloc(&d_corrected, num_image * sizeof(float));
    cudaMemcpy(d_image, h_image.data(), num_image * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coefficients, h_coefficients.data(), num_coefficients * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((WIDTH + 16 - 1) / 16, (HEIGHT + 16 - 1) / 16, CHANNELS);
    devignette<<<grid, block>>>(d_image, d_coefficients, d_corrected);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_corrected.data(), d_corrected, num_image * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/corrected.bin", std::ios::binary);
    out.write(reinterpret_cast<char*>(h_corrected.data()), num_image * sizeof(float));

    cudaFree(d_image);
    cudaFree(d_coefficients);
    cudaFree(d_corrected);
    return 0;
}
