#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define BATCH 100
#define N 16

__global__ void gauss_seidel(const float* a, const float* b, float* x) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= BATCH) return;
    float v[N];
    for (int i = 0; i < N; ++i) v[i] = 0.0f;
    const float* m = a + s * N * N;
    for (int sweep = 0; sweep < 3; ++sweep) {
        for (int i = 0; i < N; ++i) {
            float sum = b[s * N + i];
            for (int j = 0; j < N; ++j) {
                if (j != i) sum -= m[i * N + j] * v[j];
            }
            v[i] = sum / m[i * N + i];
        }
    }
    for (int i = 0; i < N; ++i) x[s * N + i] = v[i];
}

int main() {
    const size_t n_a = (size_t)BATCH * N * N;
    const size_t n_b = (size_t)BATCH * N;
    std::vector<float> hA(n_a);
    std::vector<float> hB(n_b);
    std::vector<float> hX(n_b);
    FILE* f = fopen("data/a.bin", "rb");
    if (!f || fread(hA.data(), sizeof(float), hA.size(), f) != hA.size()) return 1;
    fclose(f);
    f = fopen("data/b.bin", "rb");
    if (!f || fread(hB.data(), sizeof(float), hB.size(), f) != hB.size()) return 1;
    fclose(f);
    float *dA, *dB, *dX;
    cudaMalloc(&dA, n_a * sizeof(float));
    cudaMemcpy(dA, hA.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&dB, n_b * sizeof(float));
    cudaMemcpy(dB, hB.data(), n_b * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&dX, n_b * sizeof(float));
    gauss_seidel<<<(BATCH + 63) / 64, 64>>>(dA, dB, dX);
    cudaMemcpy(hX.data(), dX, n_b * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/x.bin", "wb");
    fwrite(hX.data(), sizeof(float), hX.size(), f);
    fclose(f);
}
