#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float* dst, size_t count) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(dst), count * sizeof(float));
    if (!stream) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& path, const float* dst, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(dst), count * sizeof(float));
}
//@given

const int N = 40;
const int COLUMNS = 300;

__global__ void back_substitute(const float* u, const float* b, float* x) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLUMNS) return;
    for (int i = N - 1; i >= 0; --i) {
        float value = b[i * COLUMNS + c];
        for (int j = i + 1; j < N; ++j) {
            value -= u[i * N + j] * x[j * COLUMNS + c];
        }
        x[i * COLUMNS + c] = value;
    }
}

int main() {
    const size_t u_count = (size_t)N * N;
    const size_t b_count = (size_t)N * COLUMNS;
    float* h_u = new float[u_count];
    float* h_b = new float[b_count];
    float* h_x = new float[b_count];
    read_binary("data/u.bin", h_u, u_count);
    read_binary("data/b.bin", h_b, b_count);

    float *d_u, *d_b, *d_x;
    cudaMalloc(&d_u, u_count * sizeof(float));
    cudaMalloc(&d_b, b_count * sizeof(float));
    cudaMalloc(&d_x, b_count * sizeof(float));
    cudaMemcpy(d_u, h_u, u_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, b_count * sizeof(float), cudaMemcpyHostToDevice);

    back_substitute<<<(COLUMNS + 127) / 128, 128>>>(d_u, d_b, d_x);
    cudaDeviceSynchronize();

    cudaMemcpy(h_x, d_x, b_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/x.bin", h_x, b_count);

    cudaFree(d_u);
    cudaFree(d_b);
    cudaFree(d_x);
    delete[] h_u;
    delete[] h_b;
    delete[] h_x;
    return 0;
}
