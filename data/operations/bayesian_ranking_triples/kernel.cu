#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readArray(const std::string& path, float* values, size_t n) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values), n * sizeof(float))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void readArray(const std::string& path, int* values, size_t n) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values), n * sizeof(int))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void writeArray(const std::string& path, const float* values, size_t n) {
    std::ofstream f(path, std::ios::binary);
    f.write(reinterpret_cast<const char*>(values), n * sizeof(float));
}
//@given

const int USERS = 100;
const int ITEMS = 200;
const int DIM = 16;
const int TRIPLES = 3000;
const int COUNT = USERS * DIM;

// A warp reads the three vectors of a triple together.
__global__ void bpr_loss_warp(const float* __restrict__ user_vec, const float* __restrict__ item_vec,
                              const int* __restrict__ triple, float* __restrict__ loss) {
    const int lane = threadIdx.x % 32;
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (t >= TRIPLES) return;
    const float* a = user_vec + (size_t)triple[3 * t] * DIM;
    const float* p = item_vec + (size_t)triple[3 * t + 1] * DIM;
    const float* q = item_vec + (size_t)triple[3 * t + 2] * DIM;
    float d = 0.0f, n = 0.0f;
    for (int k = lane; k < DIM; k += 32) {
        const float x = a[k], y = p[k], z = q[k];
        d = fmaf(x, y - z, d);
        n += x * x + y * y + z * z;
    }
    for (int s = 16; s > 0; s >>= 1) {
        d += __shfl_xor_sync(0xffffffffu, d, s);
        n += __shfl_xor_sync(0xffffffffu, n, s);
    }
    if (lane == 0) {
        const float softplus = d > 0.0f ? log1pf(expf(-d)) : log1pf(expf(d)) - d;
        loss[t] = softplus + 0.005f * n;
    }
}

int main() {
    float* h_user_vec = new float[COUNT];
    float* h_item_vec = new float[ITEMS * DIM];
    int* h_triple = new int[TRIPLES * 3];
    float* h_loss = new float[TRIPLES];
    readArray("data/user_vec.bin", h_user_vec, COUNT);
    readArray("data/item_vec.bin", h_item_vec, ITEMS * DIM);
    readArray("data/triple.bin", h_triple, TRIPLES * 3);

    float* d_user_vec = nullptr;
    float* d_item_vec = nullptr;
    int* d_triple = nullptr;
    float* d_loss = nullptr;
    cudaMalloc(&d_user_vec, COUNT * sizeof(float));
    cudaMalloc(&d_item_vec, ITEMS * DIM * sizeof(float));
    cudaMalloc(&d_triple, TRIPLES * 3 * sizeof(int));
    cudaMalloc(&d_loss, TRIPLES * sizeof(float));
    cudaMemcpy(d_user_vec, h_user_vec, COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_item_vec, h_item_vec, ITEMS * DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_triple, h_triple, TRIPLES * 3 * sizeof(int), cudaMemcpyHostToDevice);

    bpr_loss_warp<<<(TRIPLES + 3) / 4, 128>>>(d_user_vec, d_item_vec, d_triple, d_loss);

    cudaMemcpy(h_loss, d_loss, TRIPLES * sizeof(float), cudaMemcpyDeviceToHost);
    writeArray("data/loss.bin", h_loss, TRIPLES);

    cudaFree(d_user_vec);
    cudaFree(d_item_vec);
    cudaFree(d_triple);
    cudaFree(d_loss);
    delete[] h_user_vec;
    delete[] h_item_vec;
    delete[] h_triple;
    delete[] h_loss;
    return 0;
}
