#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kBatch = 25;
constexpr int kN = 24;

// One block per system, one thread per row; column kN of the shared array is the right-hand side.
__global__ void gauss(const float* a, const float* b, float* x) {
    __shared__ float m[kN][kN + 1];
    __shared__ int pivot;
    int t = threadIdx.x;
    for (int i = 0; i < kN; ++i) m[i][t] = a[(blockIdx.x * kN + i) * kN + t];
    m[t][kN] = b[blockIdx.x * kN + t];
    __syncthreads();
    for (int k = 0; k < kN; ++k) {
        if (t == 0) {
            pivot = k;
            for (int i = k + 1; i < kN; ++i) {
                if (fabsf(m[i][k]) > fabsf(m[pivot][k])) pivot = i;
            }
        }
        __syncthreads();
        if (pivot != k) {
            for (int j = t; j <= kN; j += kN) {
                float tmp = m[k][j];
                m[k][j] = m[pivot][j];
                m[pivot][j] = tmp;
            }
        }
        __syncthreads();
        if (t > k) {
            float f = m[t][k] / m[k][k];
            for (int j = k; j <= kN; ++j) m[t][j] -= f * m[k][j];
        }
        __syncthreads();
    }
    for (int k = kN - 1; k >= 0; --k) {
        if (t == k) m[k][kN] /= m[k][k];
        __syncthreads();
        if (t < k) m[t][kN] -= m[t][k] * m[k][kN];
        __syncthreads();
    }
    x[blockIdx.x * kN + t] = m[t][kN];
}

void compute(const float* d_a, const float* d_b, float* d_x) {
    gauss<<<kBatch, kN>>>(d_a, d_b, d_x);
}

int main() {
    const size_t count_a = (size_t)kBatch * kN * kN;
    const size_t count_b = (size_t)kBatch * kN;
    std::vector<float> a(count_a);
    std::vector<float> b(count_b);
    std::vector<float> x(count_b);
    std::ifstream a_in("data/a.bin", std::ios::binary);
    if (!a_in.read(reinterpret_cast<char*>(a.data()), count_a * sizeof(float))) {
        std::cerr << "data/a.bin is missing or short\n";
        return 1;
    }
    std::ifstream b_in("data/b.bin", std::ios::binary);
    if (!b_in.read(reinterpret_cast<char*>(b.data()), count_b * sizeof(float))) {
        std::cerr << "data/b.bin is missing or short\n";
        return 1;
    }

    float *d_a, *d_b, *d_x;
    cudaMalloc(&d_a, count_a * sizeof(float));
    cudaMalloc(&d_b, count_b * sizeof(float));
    cudaMalloc(&d_x, count_b * sizeof(float));
    cudaMemcpy(d_a, a.data(), count_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b.data(), count_b * sizeof(float), cudaMemcpyHostToDevice);
    compute(d_a, d_b, d_x);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }
    cudaMemcpy(x.data(), d_x, count_b * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream x_out("data/x.bin", std::ios::binary);
    x_out.write(reinterpret_cast<const char*>(x.data()), count_b * sizeof(float));
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    return 0;
}
