#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

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

static const int N = 12000;
static const int GROUPS = 30;

static int divUp(int a, int b) { return (a + b - 1) / b; }

__global__ void add_deviance(const float* observed, const float* predicted, const int* group, float* sum,
        int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float y = observed[i], u = predicted[i];
        atomicAdd(&sum[group[i]], 2.0f * ((y - u) / u - logf(y / u)));
        atomicAdd(&count[group[i]], 1);
    }
}

__global__ void average(const float* sum, const int* count, float* deviance) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < GROUPS) deviance[g] = count[g] > 0 ? sum[g] / count[g] : 0.0f;
}

int main() {
    std::vector<float> hObserved(N);
    std::vector<float> hPredicted(N);
    std::vector<int> hGroup(N);
    std::vector<float> hDeviance(GROUPS);
    readInput("data/observed.bin", hObserved.data(), N * sizeof(float));
    readInput("data/predicted.bin", hPredicted.data(), N * sizeof(float));
    readInput("data/group.bin", hGroup.data(), N * sizeof(int));

    float* d_observed;
    float* d_predicted;
    int* d_group;
    float* d_deviance;
    float* d_sum;
    int* d_count;
    cudaMalloc(&d_observed, N * sizeof(float));
    cudaMalloc(&d_predicted, N * sizeof(float));
    cudaMalloc(&d_group, N * sizeof(int));
    cudaMalloc(&d_deviance, GROUPS * sizeof(float));
    cudaMalloc(&d_sum, GROUPS * sizeof(float));
    cudaMalloc(&d_count, GROUPS * sizeof(int));
    cudaMemcpy(d_observed, hObserved.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_predicted, hPredicted.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_group, hGroup.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_sum, 0, GROUPS * sizeof(float));
    cudaMemset(d_count, 0, GROUPS * sizeof(int));

    add_deviance<<<divUp(N, 256), 256>>>(d_observed, d_predicted, d_group, d_sum, d_count);
    average<<<divUp(GROUPS, 256), 256>>>(d_sum, d_count, d_deviance);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(hDeviance.data(), d_deviance, GROUPS * sizeof(float), cudaMemcpyDeviceToHost);
    writeOutput("data/deviance.bin", hDeviance.data(), GROUPS * sizeof(float));

    cudaFree(d_observed);
    cudaFree(d_predicted);
    cudaFree(d_group);
    cudaFree(d_deviance);
    cudaFree(d_sum);
    cudaFree(d_count);
    return 0;
}
