#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load(const std::string& path, T* ptr, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(ptr), count * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

template <typename T>
void save(const std::string& path, const T* ptr, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(ptr), count * sizeof(T));
}
//@given

constexpr int kCount = 3000;

__global__ void invert_2x2(const float* m, float* inv, int* singular) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kCount) return;
    float a = m[4 * i], b = m[4 * i + 1], c = m[4 * i + 2], d = m[4 * i + 3];
    float det = a * d - b * c;
    bool bad = fabsf(det) < 0.05f;
    float scale = bad ? 0.0f : 1.0f / det;
    inv[4 * i] = d * scale;
    inv[4 * i + 1] = -b * scale;
    inv[4 * i + 2] = -c * scale;
    inv[4 * i + 3] = a * scale;
    singular[i] = bad;
}

int main() {
    const size_t n_m = (size_t)kCount * 2 * 2;
    float* h_m = new float[n_m];
    float* h_inv = new float[n_m];
    int* h_singular = new int[kCount];
    load("data/m.bin", h_m, n_m);

    float *d_m, *d_inv;
    int *d_singular;
    cudaMalloc(&d_m, n_m * sizeof(float));
    cudaMalloc(&d_inv, n_m * sizeof(float));
    cudaMalloc(&d_singular, kCount * sizeof(int));
    cudaMemcpy(d_m, h_m, n_m * sizeof(float), cudaMemcpyHostToDevice);

    int blocks = (kCount + 255) / 256;
    invert_2x2<<<blocks, 256>>>(d_m, d_inv, d_singular);

    cudaMemcpy(h_inv, d_inv, n_m * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_singular, d_singular, kCount * sizeof(int), cudaMemcpyDeviceToHost);
    save("data/inv.bin", h_inv, n_m);
    save("data/singular.bin", h_singular, kCount);

    delete[] h_m;
    delete[] h_inv;
    delete[] h_singular;
    cudaFree(d_m);
    cudaFree(d_inv);
    cudaFree(d_singular);
    return 0;
}
