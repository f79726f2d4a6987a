#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void readFile(const std::string& name, T* dst, size_t n) {
    std::ifstream f(name, std::ios::binary);
    f.read(reinterpret_cast<char*>(dst), n * sizeof(T));
    if (!f) {
        std::cerr << "cannot read " << name << std::endl;
        exit(EXIT_FAILURE);
    }
}

template <typename T>
void writeFile(const std::string& name, const T* src, size_t n) {
    std::ofstream f(name, std::ios::binary);
    f.write(reinterpret_cast<const char*>(src), n * sizeof(T));
}
//@given

constexpr int kPeople = 15000;
constexpr int kRegions = 12;
constexpr int kBrackets = 8;
constexpr int kThreads = 256;

// Each block first works out, per region, the tax due at the beginning of every bracket.
__global__ void income_tax_tables(const float* __restrict__ income, const int* __restrict__ region,
                                  const float* __restrict__ lower, const float* __restrict__ rate,
                                  float* __restrict__ tax, float* __restrict__ marginal) {
    __shared__ float limit[kRegions * kBrackets], slope[kRegions * kBrackets], base[kRegions * kBrackets];
    for (int q = threadIdx.x; q < kRegions; q += kThreads) {
        float due = 0.0f;
        for (int k = q * kBrackets; k < (q + 1) * kBrackets; ++k) {
            if (k > q * kBrackets) due += slope[k - 1] * (lower[k] - limit[k - 1]);
            limit[k] = lower[k];
            slope[k] = rate[k];
            base[k] = due;
        }
    }
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < kPeople; i += gridDim.x * kThreads) {
        const float x = income[i];
        int k = region[i] * kBrackets;
        for (int s = kBrackets / 2; s > 0; s /= 2) {
            if (limit[k + s] <= x) k += s;
        }
        tax[i] = fmaf(slope[k], x - limit[k], base[k]);
        marginal[i] = slope[k];
    }
}

int main() {
    const size_t num = (size_t)kRegions * 8;
    float* h_income = new float[kPeople];
    int* h_region = new int[kPeople];
    float* h_lower = new float[num];
    float* h_rate = new float[num];
    float* h_tax = new float[kPeople];
    float* h_marginal = new float[kPeople];
    readFile("data/income.bin", h_income, kPeople);
    readFile("data/region.bin", h_region, kPeople);
    readFile("data/lower.bin", h_lower, num);
    readFile("data/rate.bin", h_rate, num);

    float *d_income, *d_lower, *d_rate, *d_tax, *d_marginal;
    int *d_region;
    cudaMalloc(&d_income, kPeople * sizeof(float));
    cudaMalloc(&d_region, kPeople * sizeof(int));
    cudaMalloc(&d_lower, num * sizeof(float));
    cudaMalloc(&d_rate, num * sizeof(float));
    cudaMalloc(&d_tax, kPeople * sizeof(float));
    cudaMalloc(&d_marginal, kPeople * sizeof(float));

    cudaMemcpy(d_income, h_income, kPeople * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_region, h_region, kPeople * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lower, h_lower, num * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, h_rate, num * sizeof(float), cudaMemcpyHostToDevice);

    int blocks = (kPeople + (kThreads * 8) - 1) / (kThreads * 8);
    income_tax_tables<<<blocks, kThreads>>>(d_income, d_region, d_lower, d_rate, d_tax, d_marginal);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << '\n';
        return 1;
    }
    cudaMemcpy(h_tax, d_tax, kPeople * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_marginal, d_marginal, kPeople * sizeof(float), cudaMemcpyDeviceToHost);
    writeFile("data/tax.bin", h_tax, kPeople);
    writeFile("data/marginal.bin", h_marginal, kPeople);

    cudaFree(d_income);
    cudaFree(d_region);
    cudaFree(d_lower);
    cudaFree(d_rate);
    cudaFree(d_tax);
    cudaFree(d_marginal);
    delete[] h_income;
    delete[] h_region;
    delete[] h_lower;
    delete[] h_rate;
    delete[] h_tax;
    delete[] h_marginal;
    return 0;
}
