#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int BLOCKS = 12;
const int LENGTH = 1000;

__global__ void shuffle_bytes(const float* values, unsigned char* bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (i >= LENGTH) return;
    const float* block = values + b * LENGTH;
    unsigned int d = __float_as_uint(block[i]);
    if (i > 0) d ^= __float_as_uint(block[i - 1]);
    for (int k = 0; k < 4; k++) {
        bytes[(b * 4 + k) * LENGTH + i] = (unsigned char)((d >> (8 * k)) & 255u);
    }
}

int main() {
    size_t valuesCount = (size_t)BLOCKS * LENGTH;
    size_t bytesCount = (size_t)BLOCKS * 4 * LENGTH;
    std::vector<float> h_values(valuesCount);
    std::vector<unsigned char> h_bytes(bytesCount);
    std::ifstream in_values("data/values.bin", std::ios::binary);
    in_values.read((char*)h_values.data(), valuesCount * sizeof(float));
    if (!in_values) {
        std::cerr << "could not read data/values.bin\n";
        return 1;
    }

    float* d_values = nullptr;
    cudaMalloc(&d_values, valuesCount * sizeof(float));
    cudaMemcpy(d_values, h_values.data(), valuesCount * sizeof(float), cudaMemcpyHostToDevice);
    unsigned char* d_bytes = nullptr;
    cudaMalloc(&d_bytes, bytesCount * sizeof(unsigned char));

    dim3 grid((LENGTH + 255) / 256, BLOCKS);
    shuffle_bytes<<<grid, 256>>>(d_values, d_bytes);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_bytes.data(), d_bytes, bytesCount * sizeof(unsigned char), cudaMemcpyDeviceToHost);

    std::ofstream out_bytes("data/bytes.bin", std::ios::binary);
    out_bytes.write((const char*)h_bytes.data(), bytesCount * sizeof(unsigned char));

    cudaFree(d_values);
    cudaFree(d_bytes);
    return 0;
}
