#include <cstdlib>
#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

void load_array(const char* path, float* data, size_t count) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(data), count * sizeof(float))) {
        std::cerr << "failed to load " << path << std::endl;
        exit(1);
    }
}

void save_array(const char* path, const float* data, size_t count) {
    std::ofstream f(path, std::ios::binary);
    f.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

const int kN = 9000;

__global__ void welsch(const float* residual, float* loss, float* grad, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float r = residual[i];
        float u = 0.25f * r * r;
        loss[i] = -2.0f * expm1f(-u);
        grad[i] = r * expf(-u);
    }
}

int main() {
    float* h_residual = new float[kN];
    float* h_loss = new float[kN];
    float* h_grad = new float[kN];
    load_array("data/residual.bin", h_residual, kN);

    float *d_residual, *d_loss, *d_grad;
    cudaMalloc(&d_residual, kN * sizeof(float));
    cudaMalloc(&d_loss, kN * sizeof(float));
    cudaMalloc(&d_grad, kN * sizeof(float));
    cudaMemcpy(d_residual, h_residual, kN * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    welsch<<<(kN + threads - 1) / threads, threads>>>(d_residual, d_loss, d_grad, kN);
    cudaDeviceSynchronize();

    cudaMemcpy(h_loss, d_loss, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_grad, d_grad, kN * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/loss.bin", h_loss, kN);
    save_array("data/grad.bin", h_grad, kN);

    cudaFree(d_residual);
    cudaFree(d_loss);
    cudaFree(d_grad);
    delete[] h_residual;
    delete[] h_loss;
    delete[] h_grad;
    return 0;
}
