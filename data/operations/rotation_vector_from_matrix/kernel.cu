#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 2000;
const int BLOCK = 128;

__global__ void log_tiles(const float* __restrict__ matrices, float* __restrict__ vectors) {
    __shared__ float tile[9 * BLOCK];
    int first = blockIdx.x * BLOCK;
    int count = min(BLOCK, N - first);
    const float* source = matrices + (size_t)first * 9;
    for (int k = threadIdx.x; k < 9 * count; k += BLOCK) tile[k] = source[k];
    __syncthreads();

    int t = threadIdx.x;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    if (t < count) {
        const float* r = tile + 9 * t;
        x = 0.5f * (r[7] - r[5]);
        y = 0.5f * (r[2] - r[6]);
        z = 0.5f * (r[3] - r[1]);
        float s = sqrtf(fmaf(x, x, fmaf(y, y, z * z)));
        float factor = s < 1e-5f ? 1.0f : atan2f(s, 0.5f * (r[0] + r[4] + r[8]) - 0.5f) / s;
        x *= factor;
        y *= factor;
        z *= factor;
    }
    // The tile is used again for the results, once all matrices have been read.
    __syncthreads();
    tile[3 * t] = x;
    tile[3 * t + 1] = y;
    tile[3 * t + 2] = z;
    __syncthreads();
    for (int k = t; k < 3 * count; k += BLOCK) vectors[(size_t)first * 3 + k] = tile[k];
}

int main() {
    std::vector<float> h_matrices(N * 3 * 3);
    std::vector<float> h_vectors(N * 3);

    std::ifstream input("data/matrices.bin", std::ios::binary);
    input.read(reinterpret_cast<char*>(h_matrices.data()), h_matrices.size() * sizeof(float));
    if (!input) {
        std::cerr << "missing or short data/matrices.bin" << std::endl;
        return 1;
    }

    float *d_matrices, *d_vectors;
    cudaMalloc(&d_matrices, N * 3 * 3 * sizeof(float));
    cudaMalloc(&d_vectors, N * 3 * sizeof(float));
    cudaMemcpy(d_matrices, h_matrices.data(), N * 3 * 3 * sizeof(float), cudaMemcpyHostToDevice);

    log_tiles<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(d_matrices, d_vectors);

    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_vectors.data(), d_vectors, N * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream output("data/vectors.bin", std::ios::binary);
    output.write(reinterpret_cast<const char*>(h_vectors.data()), N * 3 * sizeof(float));

    cudaFree(d_matrices);
    cudaFree(d_vectors);
    return 0;
}
