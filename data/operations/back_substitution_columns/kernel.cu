#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 40;
const int COLUMNS = 300;

// The unknowns of 32 columns live in shared memory; eight threads of a column share the sum of each row.
__global__ void back_substitute_shared(const float* __restrict__ u, const float* __restrict__ b,
                                       float* __restrict__ x) {
    __shared__ float value[N][32];
    __shared__ float part[8][32];
    const int lane = threadIdx.x, slice = threadIdx.y;
    const int c = blockIdx.x * 32 + lane;
    for (int i = slice; i < N; i += 8) value[i][lane] = c < COLUMNS ? b[i * COLUMNS + c] : 0.0f;
    __syncthreads();
    for (int i = N - 2; i >= 0; --i) {
        float sum = 0.0f;
        for (int j = i + 1 + slice; j < N; j += 8) sum = fmaf(u[i * N + j], value[j][lane], sum);
        part[slice][lane] = sum;
        __syncthreads();
        if (slice == 0) {
            for (int k = 1; k < 8; ++k) sum += part[k][lane];
            value[i][lane] -= sum;
        }
        __syncthreads();
    }
    if (c >= COLUMNS) return;
    for (int i = slice; i < N; i += 8) x[i * COLUMNS + c] = value[i][lane];
}

int main() {
    const size_t count_u = (size_t)N * N;
    const size_t count_b = (size_t)N * COLUMNS;
    std::vector<float> h_u(count_u), h_b(count_b), h_x(count_b);
    std::ifstream f_u("data/u.bin", std::ios::binary);
    if (!f_u.read((char*)h_u.data(), count_u * sizeof(float))) { std::cerr << "data/u.bin\n"; return 1; }
    std::ifstream f_b("data/b.bin", std::ios::binary);
    if (!f_b.read((char*)h_b.data(), count_b * sizeof(float))) { std::cerr << "data/b.bin\n"; return 1; }
    float *d_u, *d_b, *d_x;
    cudaMalloc(&d_u, count_u * sizeof(float));
    cudaMemcpy(d_u, h_u.data(), count_u * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_b, count_b * sizeof(float));
    cudaMemcpy(d_b, h_b.data(), count_b * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, count_b * sizeof(float));
    dim3 threads(32, 8);
    back_substitute_shared<<<(COLUMNS + 31) / 32, threads>>>(d_u, d_b, d_x);
    cudaMemcpy(h_x.data(), d_x, count_b * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/x.bin", std::ios::binary).write((char*)h_x.data(), count_b * sizeof(float));
}
