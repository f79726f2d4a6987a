#include <cuda_runtime.h>
#include <fstream>
#include <iostream>

static const int kPlanes = 6;
static const int kRows = 40;
static const int kCols = 50;

__global__ void scatter(const float* values, const int* indices, float* image) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kPlanes * kRows * kCols) return;
    int plane = i / (kRows * kCols);
    image[(size_t)plane * 4 * kRows * kCols + indices[i]] = values[i];
}

int main() {
    const size_t num_values = kPlanes * kRows * kCols;
    const size_t num_image = kPlanes * kRows * 2 * kCols * 2;
    float* values;
    int* indices;
    float* image;
    cudaMallocManaged(&values, num_values * sizeof(float));
    cudaMallocManaged(&indices, num_values * sizeof(int));
    cudaMallocManaged(&image, num_image * sizeof(float));

    std::ifstream file_values("data/values.bin", std::ios::binary);
    if (!file_values.read(reinterpret_cast<char*>(values), num_values * sizeof(float))) {
        std::cerr << "cannot read data/values.bin\n";
        return 1;
    }
    std::ifstream file_indices("data/indices.bin", std::ios::binary);
    if (!file_indices.read(reinterpret_cast<char*>(indices), num_values * sizeof(int))) {
        std::cerr << "cannot read data/indices.bin\n";
        return 1;
    }
    cudaMemset(image, 0, num_image * sizeof(float));

    scatter<<<(kPlanes * kRows * kCols + 256 - 1) / 256, 256>>>(values, indices, image);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << cudaGetErrorString(result) << "\n";
        return 1;
    }

    std::ofstream file_image("data/image.bin", std::ios::binary);
    file_image.write(reinterpret_cast<const char*>(image), num_image * sizeof(float));

    cudaFree(values);
    cudaFree(indices);
    cudaFree(image);
    return 0;
}
