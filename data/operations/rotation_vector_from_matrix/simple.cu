#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(data), bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
}

void save(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

#define N 2000

__global__ void matrix_log(const float* matrices, float* vectors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float* r = matrices + 9 * i;
    float wx = 0.5f * (r[7] - r[5]);
    float wy = 0.5f * (r[2] - r[6]);
    float wz = 0.5f * (r[3] - r[1]);
    float s = sqrtf(wx * wx + wy * wy + wz * wz);
    float c = 0.5f * (r[0] + r[4] + r[8] - 1.0f);
    float factor = 1.0f;
    if (s >= 1e-5f) factor = atan2f(s, c) / s;
    vectors[3 * i] = wx * factor;
    vectors[3 * i + 1] = wy * factor;
    vectors[3 * i + 2] = wz * factor;
}

int main() {
    const size_t matrices_bytes = sizeof(float) * N * 3 * 3;
    const size_t vectors_bytes = sizeof(float) * N * 3;
    float* h_matrices = new float[N * 3 * 3];
    float* h_vectors = new float[N * 3];
    load("data/matrices.bin", h_matrices, matrices_bytes);

    float *d_matrices, *d_vectors;
    cudaMalloc(&d_matrices, matrices_bytes);
    cudaMalloc(&d_vectors, vectors_bytes);
    cudaMemcpy(d_matrices, h_matrices, matrices_bytes, cudaMemcpyHostToDevice);

    int block = 256;
    matrix_log<<<DIV_UP(N, block), block>>>(d_matrices, d_vectors);
    cudaDeviceSynchronize();

    cudaMemcpy(h_vectors, d_vectors, vectors_bytes, cudaMemcpyDeviceToHost);
    save("data/vectors.bin", h_vectors, vectors_bytes);

    cudaFree(d_matrices);
    cudaFree(d_vectors);
    delete[] h_matrices;
    delete[] h_vectors;
    return 0;
}
