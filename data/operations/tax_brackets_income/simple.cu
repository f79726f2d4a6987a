#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int PEOPLE = 15000;
constexpr int REGIONS = 12;
constexpr int BRACKETS = 8;
const size_t elements = (size_t)REGIONS * 8;

__global__ void income_tax(const float* income, const int* region, const float* lower, const float* rate,
                           float* tax, float* marginal) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PEOPLE) return;
    float x = income[i];
    const float* limits = lower + region[i] * BRACKETS;
    const float* rates = rate + region[i] * BRACKETS;
    float total = 0.0f, last = 0.0f;
    for (int k = 0; k < BRACKETS && x >= limits[k]; k++) {
        float upper = k + 1 < BRACKETS ? fminf(x, limits[k + 1]) : x;
        total += rates[k] * (upper - limits[k]);
        last = rates[k];
    }
    tax[i] = total;
    marginal[i] = last;
}

void compute(const float* d_income, const int* d_region, const float* d_lower, const float* d_rate,
             float* d_tax, float* d_marginal) {
    income_tax<<<(PEOPLE + 255) / 256, 256>>>(d_income, d_region, d_lower, d_rate, d_tax, d_marginal);
}

int main() {
    std::vector<float> income(PEOPLE);
    std::vector<int> region(PEOPLE);
    std::vector<float> lower(elements);
    std::vector<float> rate(elements);
    std::vector<float> tax(PEOPLE);
    std::vector<float> marginal(PEOPLE);
    std::ifstream income_stream("data/income.bin", std::ios::binary);
    if (!income_stream.read((char*)income.data(), PEOPLE * sizeof(float))) {
        std::cerr << "missing data/income.bin\n";
        return 1;
    }
    std::ifstream region_stream("data/region.bin", std::ios::binary);
    if (!region_stream.read((char*)region.data(), PEOPLE * sizeof(int))) {
        std::cerr << "missing data/region.bin\n";
        return 1;
    }
    std::ifstream lower_stream("data/lower.bin", std::ios::binary);
    if (!lower_stream.read((char*)lower.data(), elements * sizeof(float))) {
        std::cerr << "missing data/lower.bin\n";
        return 1;
    }
    std::ifstream rate_stream("data/rate.bin", std::ios::binary);
    if (!rate_stream.read((char*)rate.data(), elements * sizeof(float))) {
        std::cerr << "missing data/rate.bin\n";
        return 1;
    }

    float* d_income;
    int* d_region;
    float* d_lower;
    float* d_rate;
    float* d_tax;
    float* d_marginal;
    cudaMalloc(&d_income, PEOPLE * sizeof(float));
    cudaMalloc(&d_region, PEOPLE * sizeof(int));
    cudaMalloc(&d_lower, elements * sizeof(float));
    cudaMalloc(&d_rate, elements * sizeof(float));
    cudaMalloc(&d_tax, PEOPLE * sizeof(float));
    cudaMalloc(&d_marginal, PEOPLE * sizeof(float));
    cudaMemcpy(d_income, income.data(), PEOPLE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_region, region.data(), PEOPLE * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lower, lower.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, rate.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    compute(d_income, d_region, d_lower, d_rate, d_tax, d_marginal);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }
    cudaMemcpy(tax.data(), d_tax, PEOPLE * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(marginal.data(), d_marginal, PEOPLE * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/tax.bin", std::ios::binary).write((char*)tax.data(), PEOPLE * sizeof(float));
    std::ofstream("data/marginal.bin", std::ios::binary).write((char*)marginal.data(), PEOPLE * sizeof(float));
    cudaFree(d_income);
    cudaFree(d_region);
    cudaFree(d_lower);
    cudaFree(d_rate);
    cudaFree(d_tax);
    cudaFree(d_marginal);
    return 0;
}
