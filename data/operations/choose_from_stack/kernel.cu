#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t n) {
    std::vector<T> data(n);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(data.data()), n * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kLayers = 5;
constexpr int kRows = 60;
constexpr int kCols = 90;
constexpr int kArea = kRows * kCols;

// All layers are read in coalesced order and combined with a weight that is 0, 1 or 1 / kLayers.
__global__ void choose_weighted(const float* __restrict__ stack, const unsigned char* __restrict__ choice,
                                float* __restrict__ picked) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kArea; i += step) {
        const int k = choice[i];
        const float other = k < kLayers ? 0.0f : 1.0f / kLayers;
        float acc = 0.0f;
        for (int l = 0; l < kLayers; ++l) {
            const float w = l == k ? 1.0f : other;
            acc = fmaf(w, stack[(size_t)l * kArea + i], acc);
        }
        picked[i] = acc;
    }
}

int main() {
    constexpr size_t stack_size = (size_t)kLayers * kRows * kCols;
    constexpr size_t choice_size = (size_t)kRows * kCols;
    auto stack = from_file<float>("data/stack.bin", stack_size);
    auto choice = from_file<unsigned char>("data/choice.bin", choice_size);
    std::vector<float> picked(choice_size);

    float* d_stack = nullptr;
    cudaMalloc(&d_stack, stack_size * sizeof(float));
    cudaMemcpy(d_stack, stack.data(), stack_size * sizeof(float), cudaMemcpyHostToDevice);
    unsigned char* d_choice = nullptr;
    cudaMalloc(&d_choice, choice_size * sizeof(unsigned char));
    cudaMemcpy(d_choice, choice.data(), choice_size * sizeof(unsigned char), cudaMemcpyHostToDevice);
    float* d_picked = nullptr;
    cudaMalloc(&d_picked, choice_size * sizeof(float));

    choose_weighted<<<(kArea + 511) / 512, 128>>>(d_stack, d_choice, d_picked);
    cudaError_t result = cudaGetLastError();
    if (result != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(result) << '\n';
        return 1;
    }
    cudaMemcpy(picked.data(), d_picked, choice_size * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/picked.bin", picked);

    cudaFree(d_stack);
    cudaFree(d_choice);
    cudaFree(d_picked);
    return 0;
}
