#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

static const int POINTS = 3000;
static const int DIM = 7;

// All components of a point stay in registers between the two passes.
__global__ void cap_in_registers(const float* __restrict__ vectors, const float* __restrict__ limit,
                                 float* __restrict__ capped, int* __restrict__ clipped) {
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < POINTS; p += gridDim.x * blockDim.x) {
        float v[DIM];
        float sq = 0.0f;
#pragma unroll
        for (int k = 0; k < DIM; ++k) {
            v[k] = vectors[(size_t)k * POINTS + p];
            sq = fmaf(v[k], v[k], sq);
        }
        const float m = limit[p];
        const int over = sq > m * m;
        const float scale = over ? m * rsqrtf(sq) : 1.0f;
#pragma unroll
        for (int k = 0; k < DIM; ++k) capped[(size_t)k * POINTS + p] = v[k] * scale;
        clipped[p] = over;
    }
}

void solve(const float* d_vectors, const float* d_limit, float* d_capped, int* d_clipped) {
    int blocks = (POINTS + 128 - 1) / 128;
    blocks = blocks < 2048 ? blocks : 2048;
    cap_in_registers<<<blocks, 128>>>(d_vectors, d_limit, d_capped, d_clipped);
}

int main() {
    const int num_vectors = DIM * POINTS;
    std::vector<float> h_vectors(num_vectors);
    std::vector<float> h_limit(POINTS);
    std::vector<float> h_capped(num_vectors);
    std::vector<int> h_clipped(POINTS);
    std::ifstream in_vectors("data/vectors.bin", std::ios::binary);
    if (!in_vectors.read(reinterpret_cast<char*>(h_vectors.data()), num_vectors * sizeof(float))) {
        std::cerr << "cannot read data/vectors.bin\n";
        return 1;
    }
    std::ifstream in_limit("data/limit.bin", std::ios::binary);
    if (!in_limit.read(reinterpret_cast<char*>(h_limit.data()), POINTS * sizeof(float))) {
        std::cerr << "cannot read data/limit.bin\n";
        return 1;
    }

    float* d_vectors;
    float* d_limit;
    float* d_capped;
    int* d_clipped;
    cudaMalloc(&d_vectors, num_vectors * sizeof(float));
    cudaMalloc(&d_limit, POINTS * sizeof(float));
    cudaMalloc(&d_capped, num_vectors * sizeof(float));
    cudaMalloc(&d_clipped, POINTS * sizeof(int));
    cudaMemcpy(d_vectors, h_vectors.data(), num_vectors * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_limit, h_limit.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_vectors, d_limit, d_capped, d_clipped);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_capped.data(), d_capped, num_vectors * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_clipped.data(), d_clipped, POINTS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/capped.bin", std::ios::binary).write(reinterpret_cast<char*>(h_capped.data()),
        num_vectors * sizeof(float));
    std::ofstream("data/clipped.bin", std::ios::binary).write(reinterpret_cast<char*>(h_clipped.data()),
        POINTS * sizeof(int));
    cudaFree(d_vectors);
    cudaFree(d_limit);
    cudaFree(d_capped);
    cudaFree(d_clipped);
    return 0;
}
