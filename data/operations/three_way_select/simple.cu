#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int N = 10000;

__global__ void select_by_code(const int* code, const float* a, const float* b, const float* c, float* picked, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i], z = c[i];
    switch (code[i]) {
        case 0: picked[i] = x; break;
        case 1: picked[i] = y; break;
        case 2: picked[i] = z; break;
        case 3: picked[i] = fmaxf(fminf(x, y), fminf(fmaxf(x, y), z)); break;
        case 4: picked[i] = (x + y + z) / 3.0f; break;
        default: picked[i] = copysignf(x, y);
    }
}

int main() {
    int* code = nullptr;
    float *a = nullptr, *b = nullptr, *c = nullptr, *picked = nullptr;
    cudaMallocManaged(&code, N * sizeof(int));
    cudaMallocManaged(&a, N * sizeof(float));
    cudaMallocManaged(&b, N * sizeof(float));
    cudaMallocManaged(&c, N * sizeof(float));
    cudaMallocManaged(&picked, N * sizeof(float));
    std::ifstream code_in("data/code.bin", std::ios::binary);
    if (!code_in.read(reinterpret_cast<char*>(code), N * sizeof(int))) {
        std::cerr << "cannot read data/code.bin\n";
        return 1;
    }
    std::ifstream a_in("data/a.bin", std::ios::binary);
    if (!a_in.read(reinterpret_cast<char*>(a), N * sizeof(float))) {
        std::cerr << "cannot read data/a.bin\n";
        return 1;
    }
    std::ifstream b_in("data/b.bin", std::ios::binary);
    if (!b_in.read(reinterpret_cast<char*>(b), N * sizeof(float))) {
        std::cerr << "cannot read data/b.bin\n";
        return 1;
    }
    std::ifstream c_in("data/c.bin", std::ios::binary);
    if (!c_in.read(reinterpret_cast<char*>(c), N * sizeof(float))) {
        std::cerr << "cannot read data/c.bin\n";
        return 1;
    }

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    select_by_code<<<blocks, threads>>>(code, a, b, c, picked, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::ofstream picked_out("data/picked.bin", std::ios::binary);
    picked_out.write(reinterpret_cast<const char*>(picked), N * sizeof(float));

    cudaFree(code);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(picked);
    return 0;
}
