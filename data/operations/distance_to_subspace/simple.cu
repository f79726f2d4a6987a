#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define POINTS 150
#define DIM 60
#define K 3

__global__ void subspace_distance(const float* x, const float* origin, const float* basis, float* distance,
                                  float* coords) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= POINTS) return;
    const float* point = x + p * DIM;
    float c[K];
    for (int j = 0; j < K; ++j) {
        float sum = 0.0f;
        for (int i = 0; i < DIM; ++i) sum += (point[i] - origin[i]) * basis[j * DIM + i];
        c[j] = sum;
        coords[p * K + j] = sum;
    }
    float square = 0.0f;
    for (int i = 0; i < DIM; ++i) {
        float rest = point[i] - origin[i];
        for (int j = 0; j < K; ++j) rest -= c[j] * basis[j * DIM + i];
        square += rest * rest;
    }
    distance[p] = sqrtf(square);
}

int main() {
    const size_t count_x = (size_t)POINTS * DIM;
    const size_t count_basis = (size_t)K * DIM;
    const size_t count_coords = (size_t)POINTS * K;
    std::vector<float> x(count_x), origin(DIM), basis(count_basis), distance(POINTS), coords(count_coords);
    std::ifstream f_x("data/x.bin", std::ios::binary);
    if (!f_x.read((char*)x.data(), count_x * sizeof(float))) { std::cerr << "data/x.bin\n"; return 1; }
    std::ifstream in_origin("data/origin.bin", std::ios::binary);
    if (!in_origin.read((char*)origin.data(), DIM * sizeof(float))) { std::cerr << "data/origin.bin\n"; return 1; }
    std::ifstream in_basis("data/basis.bin", std::ios::binary);
    if (!in_basis.read((char*)basis.data(),
            count_basis * sizeof(float))) { std::cerr << "data/basis.bin\n"; return 1; }
    float *d_x, *d_origin, *d_basis, *d_distance, *d_coords;
    cudaMalloc(&d_x, count_x * sizeof(float));
    cudaMalloc(&d_origin, DIM * sizeof(float));
    cudaMalloc(&d_basis, count_basis * sizeof(float));
    cudaMalloc(&d_distance, POINTS * sizeof(float));
    cudaMalloc(&d_coords, count_coords * sizeof(float));
    cudaMemcpy(d_x, x.data(), count_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_origin, origin.data(), DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_basis, basis.data(), count_basis * sizeof(float), cudaMemcpyHostToDevice);
    subspace_distance<<<(POINTS + 127) / 128, 128>>>(d_x, d_origin, d_basis, d_distance, d_coords);
    cudaMemcpy(distance.data(), d_distance, POINTS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(coords.data(), d_coords, count_coords * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/distance.bin", std::ios::binary).write((char*)distance.data(), POINTS * sizeof(float));
    std::ofstream("data/coords.bin", std::ios::binary).write((char*)coords.data(), count_coords * sizeof(float));
}
