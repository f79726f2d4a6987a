#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 50;
const int COLS = 300;
const int THREADS = 256;

__global__ void reflect_rows(const float* a, const float* v, float* reflected) {
    __shared__ float av[THREADS];
    __shared__ float vv[THREADS];
    int t = threadIdx.x;
    const float* row = a + (size_t)blockIdx.x * COLS;
    float s1 = 0.0f, s2 = 0.0f;
    for (int c = t; c < COLS; c += THREADS) {
        s1 += row[c] * v[c];
        s2 += v[c] * v[c];
    }
    av[t] = s1;
    vv[t] = s2;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) {
            av[t] += av[t + s];
            vv[t] += vv[t + s];
        }
        __syncthreads();
    }
    float factor = 2.0f * av[0] / vv[0];
    for (int c = t; c < COLS; c += THREADS) {
        reflected[(size_t)blockIdx.x * COLS + c] = row[c] - factor * v[c];
    }
}

void solve(const float* d_a, const float* d_v, float* d_reflected) {
    reflect_rows<<<ROWS, THREADS>>>(d_a, d_v, d_reflected);
}

int main() {
    const size_t n_a = (size_t)ROWS * COLS;
    std::vector<float> h_a(n_a);
    std::vector<float> h_v(COLS);
    std::vector<float> h_reflected(n_a);
    std::ifstream a_in("data/a.bin", std::ios::binary);
    if (!a_in.read(reinterpret_cast<char*>(h_a.data()), n_a * sizeof(float))) {
        std::cerr << "data/a.bin is missing or short\n";
        return 1;
    }
    std::ifstream v_in("data/v.bin", std::ios::binary);
    if (!v_in.read(reinterpret_cast<char*>(h_v.data()), COLS * sizeof(float))) {
        std::cerr << "data/v.bin is missing or short\n";
        return 1;
    }

    float *d_a, *d_v, *d_reflected;
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMalloc(&d_v, COLS * sizeof(float));
    cudaMalloc(&d_reflected, n_a * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);
    solve(d_a, d_v, d_reflected);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure\n";
        return 1;
    }
    cudaMemcpy(h_reflected.data(), d_reflected, n_a * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream reflected_out("data/reflected.bin", std::ios::binary);
    reflected_out.write(reinterpret_cast<const char*>(h_reflected.data()), n_a * sizeof(float));
    cudaFree(d_a);
    cudaFree(d_v);
    cudaFree(d_reflected);
    return 0;
}
