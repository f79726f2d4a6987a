#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int LAYERS = 5;
const int ROWS = 60;
const int COLS = 90;
const int AREA = ROWS * COLS;

__global__ void choose(const float* stack, const unsigned char* choice, float* picked) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < AREA) {
        int k = choice[i];
        if (k < LAYERS) {
            picked[i] = stack[k * AREA + i];
        } else {
            float sum = 0.0f;
            for (int l = 0; l < LAYERS; l++) sum += stack[l * AREA + i];
            picked[i] = sum / LAYERS;
        }
    }
}

int main() {
    const size_t stack_len = size_t(LAYERS) * ROWS * COLS;
    const size_t choice_len = size_t(ROWS) * COLS;
    std::vector<float> h_stack(stack_len);
    std::vector<unsigned char> h_choice(choice_len);
    std::vector<float> h_picked(choice_len);
    std::ifstream in_stack("data/stack.bin", std::ios::binary);
    in_stack.read(reinterpret_cast<char*>(h_stack.data()), stack_len * sizeof(float));
    if (!in_stack) {
        std::cerr << "could not read data/stack.bin\n";
        return 1;
    }
    std::ifstream in_choice("data/choice.bin", std::ios::binary);
    in_choice.read(reinterpret_cast<char*>(h_choice.data()), choice_len * sizeof(unsigned char));
    if (!in_choice) {
        std::cerr << "could not read data/choice.bin\n";
        return 1;
    }

    float* d_stack = nullptr;
    cudaMalloc(&d_stack, stack_len * sizeof(float));
    cudaMemcpy(d_stack, h_stack.data(), stack_len * sizeof(float), cudaMemcpyHostToDevice);
    unsigned char* d_choice = nullptr;
    cudaMalloc(&d_choice, choice_len * sizeof(unsigned char));
    cudaMemcpy(d_choice, h_choice.data(), choice_len * sizeof(unsigned char), cudaMemcpyHostToDevice);
    float* d_picked = nullptr;
    cudaMalloc(&d_picked, choice_len * sizeof(float));

    choose<<<(AREA + 256 - 1) / 256, 256>>>(d_stack, d_choice, d_picked);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaMemcpy(h_picked.data(), d_picked, choice_len * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream out_picked("data/picked.bin", std::ios::binary);
    out_picked.write(reinterpret_cast<const char*>(h_picked.data()), choice_len * sizeof(float));

    cudaFree(d_stack);
    cudaFree(d_choice);
    cudaFree(d_picked);
    return 0;
}
