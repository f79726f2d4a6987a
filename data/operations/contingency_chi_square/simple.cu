#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int TABLES = 300;
static const int LEVELS_A = 4;
static const int LEVELS_B = 6;
static const int SMALLER = LEVELS_A < LEVELS_B ? LEVELS_A : LEVELS_B;

__global__ void chi_square_tables(const int* observed, float* chi_square, float* cramer_v) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= TABLES) return;
    const int* o = observed + (size_t)t * LEVELS_A * LEVELS_B;
    int row[LEVELS_A] = {0}, col[LEVELS_B] = {0}, n = 0;
    for (int i = 0; i < LEVELS_A; ++i) {
        for (int j = 0; j < LEVELS_B; ++j) {
            int v = o[i * LEVELS_B + j];
            row[i] += v;
            col[j] += v;
            n += v;
        }
    }
    float chi = 0.0f;
    for (int i = 0; i < LEVELS_A; ++i) {
        for (int j = 0; j < LEVELS_B; ++j) {
            if (row[i] == 0 || col[j] == 0) continue;
            float e = (float)row[i] * (float)col[j] / (float)n;
            float d = o[i * LEVELS_B + j] - e;
            chi += d * d / e;
        }
    }
    chi_square[t] = chi;
    cramer_v[t] = n > 0 ? sqrtf(chi / ((float)n * (SMALLER - 1))) : 0.0f;
}

void launch_contingency(const int* d_observed, float* d_chi_square, float* d_cramer_v) {
    chi_square_tables<<<(TABLES + 128 - 1) / 128, 128>>>(d_observed, d_chi_square, d_cramer_v);
}

int main() {
    const size_t numel = (size_t)TABLES * LEVELS_A * LEVELS_B;
    std::vector<int> observed(numel);
    std::vector<float> chi_square(TABLES);
    std::vector<float> cramer_v(TABLES);
    if (!std::ifstream("data/observed.bin", std::ios::binary)
             .read((char*)observed.data(), numel * sizeof(int))) {
        std::cerr << "data/observed.bin is missing or short\n";
        return 1;
    }

    int *d_observed;
    float *d_chi_square, *d_cramer_v;
    cudaMalloc(&d_observed, numel * sizeof(int));
    cudaMalloc(&d_chi_square, TABLES * sizeof(float));
    cudaMalloc(&d_cramer_v, TABLES * sizeof(float));
    cudaMemcpy(d_observed, observed.data(), numel * sizeof(int), cudaMemcpyHostToDevice);
    launch_contingency(d_observed, d_chi_square, d_cramer_v);
    cudaMemcpy(chi_square.data(), d_chi_square, TABLES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(cramer_v.data(), d_cramer_v, TABLES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/chi_square.bin", std::ios::binary)
        .write((const char*)chi_square.data(), TABLES * sizeof(float));
    std::ofstream("data/cramer_v.bin", std::ios::binary)
        .write((const char*)cramer_v.data(), TABLES * sizeof(float));
    cudaFree(d_observed);
    cudaFree(d_chi_square);
    cudaFree(d_cramer_v);
    return 0;
}
