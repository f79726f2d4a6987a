#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t n) {
    std::vector<T> data(n);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data.data()), n * sizeof(T));
    if (!file) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
    return data;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

const int kRows = 128;
const int kClasses = 100;
const int kTotal = kRows * kClasses;

__device__ float block_max(float v, float* buf) {
    int t = threadIdx.x;
    buf[t] = v;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
        __syncthreads();
    }
    v = buf[0];
    __syncthreads();
    return v;
}

__device__ float block_sum(float v, float* buf) {
    int t = threadIdx.x;
    buf[t] = v;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    v = buf[0];
    __syncthreads();
    return v;
}

__global__ void distill_grad(const float* student, const float* teacher, const float* weight, float* grad) {
    __shared__ float buf[128];
    size_t base = (size_t)blockIdx.x * kClasses;
    const float* s = student + base;
    const float* t = teacher + base;
    float smax = -INFINITY, tmax = -INFINITY;
    for (int k = threadIdx.x; k < kClasses; k += 128) {
        smax = fmaxf(smax, s[k]);
        tmax = fmaxf(tmax, t[k]);
    }
    smax = block_max(smax, buf);
    tmax = block_max(tmax, buf);
    float ssum = 0.0f, tsum = 0.0f;
    for (int k = threadIdx.x; k < kClasses; k += 128) {
        ssum += expf((s[k] - smax) / 4.0f);
        tsum += expf((t[k] - tmax) / 4.0f);
    }
    ssum = block_sum(ssum, buf);
    tsum = block_sum(tsum, buf);
    float w = 4.0f * weight[blockIdx.x];
    for (int k = threadIdx.x; k < kClasses; k += 128) {
        grad[base + k] = w * (expf((s[k] - smax) / 4.0f) / ssum - expf((t[k] - tmax) / 4.0f) / tsum);
    }
}

int main() {
    const auto hStudent = load_file<float>("data/student.bin", kTotal);
    const auto hTeacher = load_file<float>("data/teacher.bin", kTotal);
    const auto hWeight = load_file<float>("data/weight.bin", kRows);
    std::vector<float> hGrad(kTotal);

    float* d_student = nullptr;
    float* d_teacher = nullptr;
    float* d_weight = nullptr;
    float* d_grad = nullptr;
    cudaMalloc(&d_student, kTotal * sizeof(float));
    cudaMalloc(&d_teacher, kTotal * sizeof(float));
    cudaMalloc(&d_weight, kRows * sizeof(float));
    cudaMalloc(&d_grad, kTotal * sizeof(float));
    cudaMemcpy(d_student, hStudent.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_teacher, hTeacher.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, hWeight.data(), kRows * sizeof(float), cudaMemcpyHostToDevice);

    distill_grad<<<kRows, 128>>>(d_student, d_teacher, d_weight, d_grad);

    const auto status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(hGrad.data(), d_grad, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/grad.bin", hGrad);
    cudaFree(d_student);
    cudaFree(d_teacher);
    cudaFree(d_weight);
    cudaFree(d_grad);
}
