#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

void readInput(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(data), bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void writeOutput(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

#define ROWS 30
#define COLS 333

// sqrt(acc_delta + eps) / sqrt(acc_grad + eps) needs only one square root of the quotient.
__global__ void adadelta_stride(const float* __restrict__ weight, const float* __restrict__ grad,
                                const float* __restrict__ acc_grad, const float* __restrict__ acc_delta,
                                float* __restrict__ weight_out, float* __restrict__ acc_grad_out,
                                float* __restrict__ acc_delta_out, int n) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float g = grad[i];
        const float old = acc_delta[i];
        const float a = fmaf(0.95f, acc_grad[i], 0.05f * g * g);
        const float delta = g * sqrtf((old + 1e-6f) / (a + 1e-6f));
        acc_grad_out[i] = a;
        acc_delta_out[i] = fmaf(0.95f, old, 0.05f * delta * delta);
        weight_out[i] = weight[i] - delta;
    }
}

int main() {
    std::vector<float> hWeight(ROWS * COLS);
    std::vector<float> hGrad(ROWS * COLS);
    std::vector<float> h_acc_grad(ROWS * COLS);
    std::vector<float> h_acc_delta(ROWS * COLS);
    std::vector<float> h_weight_out(ROWS * COLS);
    std::vector<float> h_acc_grad_out(ROWS * COLS);
    std::vector<float> h_acc_delta_out(ROWS * COLS);
    readInput("data/weight.bin", hWeight.data(), ROWS * COLS * sizeof(float));
    readInput("data/grad.bin", hGrad.data(), ROWS * COLS * sizeof(float));
    readInput("data/acc_grad.bin", h_acc_grad.data(), ROWS * COLS * sizeof(float));
    readInput("data/acc_delta.bin", h_acc_delta.data(), ROWS * COLS * sizeof(float));

    float* d_weight;
    float* d_grad;
    float* d_acc_grad;
    float* d_acc_delta;
    float* d_weight_out;
    float* d_acc_grad_out;
    float* d_acc_delta_out;
    cudaMalloc(&d_weight, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_grad, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_acc_grad, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_acc_delta, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_weight_out, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_acc_grad_out, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_acc_delta_out, ROWS * COLS * sizeof(float));
    cudaMemcpy(d_weight, hWeight.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, hGrad.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_acc_grad, h_acc_grad.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_acc_delta, h_acc_delta.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);

    adadelta_stride<<<640, 256>>>(d_weight, d_grad, d_acc_grad, d_acc_delta, d_weight_out, d_acc_grad_out,
            d_acc_delta_out,
                                  ROWS * COLS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_weight_out.data(), d_weight_out, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_acc_grad_out.data(), d_acc_grad_out, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_acc_delta_out.data(), d_acc_delta_out, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    writeOutput("data/weight_out.bin", h_weight_out.data(), ROWS * COLS * sizeof(float));
    writeOutput("data/acc_grad_out.bin", h_acc_grad_out.data(), ROWS * COLS * sizeof(float));
    writeOutput("data/acc_delta_out.bin", h_acc_delta_out.data(), ROWS * COLS * sizeof(float));

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_acc_grad);
    cudaFree(d_acc_delta);
    cudaFree(d_weight_out);
    cudaFree(d_acc_grad_out);
    cudaFree(d_acc_delta_out);
    return 0;
}
