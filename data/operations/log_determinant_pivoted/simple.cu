#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int BATCH = 30;
const int N = 20;

// One block per matrix; thread j looks after column j.
__global__ void log_det(const float* a, int* sign, float* log_abs) {
    __shared__ float m[N][N];
    __shared__ int pivot;
    int j = threadIdx.x;
    for (int i = 0; i < N; ++i) m[i][j] = a[(blockIdx.x * N + i) * N + j];
    __syncthreads();
    int s = 1;
    float total = 0.0f;
    for (int k = 0; k < N; ++k) {
        if (j == 0) {
            pivot = k;
            for (int i = k + 1; i < N; ++i) {
                if (fabsf(m[i][k]) > fabsf(m[pivot][k])) pivot = i;
            }
        }
        __syncthreads();
        if (pivot != k) {
            float swap = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = swap;
            s = -s;
        }
        __syncthreads();
        float p = m[k][k];
        if (p < 0.0f) s = -s;
        total += logf(fabsf(p));
        if (j > k) {
            for (int i = k + 1; i < N; ++i) m[i][j] -= m[i][k] / p * m[k][j];
        }
        __syncthreads();
    }
    if (j == 0) {
        sign[blockIdx.x] = s;
        log_abs[blockIdx.x] = total;
    }
}

int main() {
    const size_t a_count = (size_t)BATCH * N * N;
    std::vector<float> hA(a_count), hLog_abs(BATCH);
    std::vector<int> hSign(BATCH);
    std::ifstream in_a("data/a.bin", std::ios::binary);
    if (!in_a.read((char*)hA.data(), a_count * sizeof(float))) { std::cerr << "data/a.bin\n"; return 1; }
    float *dA, *dLog_abs;
    int *dSign;
    cudaMalloc(&dA, a_count * sizeof(float));
    cudaMalloc(&dSign, BATCH * sizeof(int));
    cudaMalloc(&dLog_abs, BATCH * sizeof(float));
    cudaMemcpy(dA, hA.data(), a_count * sizeof(float), cudaMemcpyHostToDevice);
    log_det<<<BATCH, N>>>(dA, dSign, dLog_abs);
    cudaMemcpy(hSign.data(), dSign, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(hLog_abs.data(), dLog_abs, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/sign.bin", std::ios::binary).write((char*)hSign.data(), BATCH * sizeof(int));
    std::ofstream("data/log_abs.bin", std::ios::binary).write((char*)hLog_abs.data(), BATCH * sizeof(float));
}
