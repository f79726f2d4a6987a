#include <fstream>
#include <iostream>
#include <vector>

#include <cuda_runtime.h>

static const int BATCH = 1;
static const int CHANNELS = 4;
static const int HEIGHT = 40;
static const int WIDTH = 50;

__global__ void funnel(const float* x, const float* weight, const float* bias, float* y) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    int h = blockIdx.y * blockDim.y + threadIdx.y;
    if (w >= WIDTH || h >= HEIGHT) return;
    int c = blockIdx.z % CHANNELS;
    const float* plane = x + (size_t)blockIdx.z * HEIGHT * WIDTH;
    float t = bias[c];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int hh = h + i - 1;
            int ww = w + j - 1;
            if (hh >= 0 && hh < HEIGHT && ww >= 0 && ww < WIDTH) {
                t += weight[c * 9 + i * 3 + j] * plane[hh * WIDTH + ww];
            }
        }
    }
    y[(size_t)blockIdx.z * HEIGHT * WIDTH + h * WIDTH + w] = fmaxf(plane[h * WIDTH + w], t);
}

int main() {
    const int numel = BATCH * CHANNELS * HEIGHT * WIDTH;
    const size_t n_weight = CHANNELS * 3 * 3;
    std::vector<float> h_x(numel);
    std::vector<float> h_weight(n_weight);
    std::vector<float> h_bias(CHANNELS);
    std::vector<float> h_y(numel);
    std::ifstream fin_x("data/x.bin", std::ios::binary);
    fin_x.read(reinterpret_cast<char*>(h_x.data()), numel * sizeof(float));
    if (!fin_x) {
        std::cerr << "could not read data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream weight_file("data/weight.bin", std::ios::binary);
    weight_file.read(reinterpret_cast<char*>(h_weight.data()), n_weight * sizeof(float));
    if (!weight_file) {
        std::cerr << "could not read data/weight.bin" << std::endl;
        return 1;
    }
    std::ifstream bias_file("data/bias.bin", std::ios::binary);
    bias_file.read(reinterpret_cast<char*>(h_bias.data()), CHANNELS * sizeof(float));
    if (!bias_file) {
        std::cerr << "could not read data/bias.bin" << std::endl;
        return 1;
    }

    float *d_x, *d_weight, *d_bias, *d_y;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_weight, n_weight * sizeof(float));
    cudaMalloc(&d_bias, CHANNELS * sizeof(float));
    cudaMalloc(&d_y, numel * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), n_weight * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, h_bias.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((WIDTH + 31) / 32, (HEIGHT + 8 - 1) / 8, BATCH * CHANNELS);
    funnel<<<grid, block>>>(d_x, d_weight, d_bias, d_y);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_y.data(), d_y, numel * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream fout("data/y.bin", std::ios::binary);
    fout.write(reinterpret_cast<char*>(h_y.data()), numel * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_bias);
    cudaFree(d_y);
    return 0;
}
