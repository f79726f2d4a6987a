#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t size) {
    std::vector<T> v(size);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), size * sizeof(T));
    if (!in) {
        std::cerr << "could not read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& v) {
    std::ofstream in(path, std::ios::binary);
    in.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kProblems = 200;
constexpr int kDim = 70;

__global__ void polyak(const float* x, const float* grad, const float* value, const float* best,
                       float* x_out, float* step, int dim) {
    __shared__ float part[128];
    int p = blockIdx.x, t = threadIdx.x;
    size_t base = (size_t)p * dim;
    float sum = 0.0f;
    for (int k = t; k < dim; k += 128) sum += grad[base + k] * grad[base + k];
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    float length = 0.0f;
    if (part[0] > 0.0f) length = fminf(fmaxf((value[p] - best[p]) / part[0], 0.0f), 10.0f);
    if (t == 0) step[p] = length;
    for (int k = t; k < dim; k += 128) {
        x_out[base + k] = fminf(fmaxf(x[base + k] - length * grad[base + k], -1.0f), 1.0f);
    }
}

int main() {
    auto hX = load_file<float>("data/x.bin", kProblems * kDim);
    auto hGrad = load_file<float>("data/grad.bin", kProblems * kDim);
    auto hValue = load_file<float>("data/value.bin", kProblems);
    auto hBest = load_file<float>("data/best.bin", kProblems);
    std::vector<float> h_x_out(kProblems * kDim), hStep(kProblems);

    float* d_x = nullptr;
    float* d_grad = nullptr;
    float* d_value = nullptr;
    float* d_best = nullptr;
    float* d_x_out = nullptr;
    float* d_step = nullptr;
    cudaMalloc(&d_x, kProblems * kDim * sizeof(float));
    cudaMalloc(&d_grad, kProblems * kDim * sizeof(float));
    cudaMalloc(&d_value, kProblems * sizeof(float));
    cudaMalloc(&d_best, kProblems * sizeof(float));
    cudaMalloc(&d_x_out, kProblems * kDim * sizeof(float));
    cudaMalloc(&d_step, kProblems * sizeof(float));
    cudaMemcpy(d_x, hX.data(), kProblems * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, hGrad.data(), kProblems * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, hValue.data(), kProblems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_best, hBest.data(), kProblems * sizeof(float), cudaMemcpyHostToDevice);

    polyak<<<kProblems, 128>>>(d_x, d_grad, d_value, d_best, d_x_out, d_step, kDim);

    const auto err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_x_out.data(), d_x_out, kProblems * kDim * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(hStep.data(), d_step, kProblems * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/x_out.bin", h_x_out);
    store_file("data/step.bin", hStep);

    cudaFree(d_x);
    cudaFree(d_grad);
    cudaFree(d_value);
    cudaFree(d_best);
    cudaFree(d_x_out);
    cudaFree(d_step);
}
