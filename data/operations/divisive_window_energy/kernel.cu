#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int kHeight = 150;
const int kWidth = 200;

const int kTile = 16;
const int kSpan = kTile + 6;

// The tile with its border of 3 is squared once; sums go first along rows, then along columns.
__global__ void divisive_tiled(const float* __restrict__ image, float* __restrict__ response) {
    __shared__ float sq[kSpan][kSpan];
    __shared__ float rowsum[kSpan][kTile];
    const int r0 = blockIdx.y * kTile, c0 = blockIdx.x * kTile;
    const int t = threadIdx.y * kTile + threadIdx.x;
    for (int i = t; i < kSpan * kSpan; i += kTile * kTile) {
        int r = r0 + i / kSpan - 3, c = c0 + i % kSpan - 3;
        bool inside = r >= 0 && r < kHeight && c >= 0 && c < kWidth;
        float v = inside ? image[(size_t)r * kWidth + c] : 0.0f;
        sq[i / kSpan][i % kSpan] = v * v;
    }
    __syncthreads();
    for (int i = t; i < kSpan * kTile; i += kTile * kTile) {
        float s = 0.0f;
        for (int k = 0; k < 7; ++k) s += sq[i / kTile][i % kTile + k];
        rowsum[i / kTile][i % kTile] = s;
    }
    __syncthreads();
    const int r = r0 + threadIdx.y, c = c0 + threadIdx.x;
    if (r >= kHeight || c >= kWidth) return;
    float energy = 0.0f;
    for (int k = 0; k < 7; ++k) energy += rowsum[threadIdx.y + k][threadIdx.x];
    const int tall = min(r + 3, kHeight - 1) - max(r - 3, 0) + 1;
    const int wide = min(c + 3, kWidth - 1) - max(c - 3, 0) + 1;
    response[(size_t)r * kWidth + c] = image[(size_t)r * kWidth + c] / (0.2f + sqrtf(energy / (tall * wide)));
}

int main() {
    const int num_elements = kHeight * kWidth;
    float* image;
    float* response;
    cudaMallocManaged(&image, num_elements * sizeof(float));
    cudaMallocManaged(&response, num_elements * sizeof(float));

    std::ifstream file_image("data/image.bin", std::ios::binary);
    if (!file_image.read(reinterpret_cast<char*>(image), num_elements * sizeof(float))) {
        std::cerr << "cannot read data/image.bin\n";
        return 1;
    }

    dim3 block(kTile, kTile);
    dim3 grid((kWidth + kTile - 1) / kTile, (kHeight + kTile - 1) / kTile);
    divisive_tiled<<<grid, block>>>(image, response);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::ofstream file_response("data/response.bin", std::ios::binary);
    file_response.write(reinterpret_cast<const char*>(response), num_elements * sizeof(float));

    cudaFree(image);
    cudaFree(response);
    return 0;
}
