#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int N = 4000;

__global__ void hohmann(const float* inner, const float* outer, float* burns, float* hours) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float mu = 398600.4418f;
    float r1 = inner[i];
    float r2 = outer[i];
    float sum = r1 + r2;
    burns[2 * i] = sqrtf(mu / r1) * (sqrtf(2.0f * r2 / sum) - 1.0f);
    burns[2 * i + 1] = sqrtf(mu / r2) * (1.0f - sqrtf(2.0f * r1 / sum));
    float a = 0.5f * sum;
    hours[i] = 3.14159265f * sqrtf(a * a * a / mu) / 3600.0f;
}

int main() {
    std::vector<float> inner(N), outer(N), burns(N * 2), hours(N);
    std::ifstream in_inner("data/inner.bin", std::ios::binary);
    if (!in_inner.read((char*)inner.data(), N * sizeof(float))) return 1;
    std::ifstream in_outer("data/outer.bin", std::ios::binary);
    if (!in_outer.read((char*)outer.data(), N * sizeof(float))) return 1;
    float *d_inner, *d_outer, *d_burns, *d_hours;
    cudaMalloc(&d_inner, N * sizeof(float));
    cudaMalloc(&d_outer, N * sizeof(float));
    cudaMalloc(&d_burns, N * 2 * sizeof(float));
    cudaMalloc(&d_hours, N * sizeof(float));
    cudaMemcpy(d_inner, inner.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_outer, outer.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    const int threads = 256;
    hohmann<<<(N + threads - 1) / threads, threads>>>(d_inner, d_outer, d_burns, d_hours);
    cudaMemcpy(burns.data(), d_burns, N * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(hours.data(), d_hours, N * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/burns.bin", std::ios::binary).write((char*)burns.data(), N * 2 * sizeof(float));
    std::ofstream("data/hours.bin", std::ios::binary).write((char*)hours.data(), N * sizeof(float));
    cudaFree(d_inner); cudaFree(d_outer); cudaFree(d_burns); cudaFree(d_hours);
    return 0;
}
