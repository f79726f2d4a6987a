#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int TABLES = 40;
const int BINS_X = 12;
const int BINS_Y = 16;
const int CELLS = BINS_X * BINS_Y;

__global__ void marginals(const int* joint, int* row_sum, int* col_sum, int* total) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= TABLES * CELLS) return;
    int v = joint[k];
    if (v == 0) return;
    int table = k / CELLS, i = k % CELLS / BINS_Y, j = k % BINS_Y;
    atomicAdd(&row_sum[table * BINS_X + i], v);
    atomicAdd(&col_sum[table * BINS_Y + j], v);
    atomicAdd(&total[table], v);
}

__global__ void mutual_information(const int* joint, const int* row_sum, const int* col_sum, const int* total,
                                   float* information, float* uncertainty) {
    int table = blockIdx.x * blockDim.x + threadIdx.x;
    if (table >= TABLES) return;
    float n = (float)total[table], mi = 0.0f, h = 0.0f;
    int occupied = 0;
    for (int i = 0; i < BINS_X; ++i) {
        float r = (float)row_sum[table * BINS_X + i];
        if (r == 0.0f) continue;
        ++occupied;
        h -= r / n * log2f(r / n);
        for (int j = 0; j < BINS_Y; ++j) {
            float v = (float)joint[table * CELLS + i * BINS_Y + j];
            if (v > 0.0f) mi += v / n * log2f(v * n / (r * (float)col_sum[table * BINS_Y + j]));
        }
    }
    information[table] = mi;
    uncertainty[table] = occupied > 1 ? mi / h : 0.0f;
}

int main() {
    const size_t count = (size_t)TABLES * BINS_X * BINS_Y;
    std::vector<int> h_joint(count);
    std::vector<float> h_information(TABLES);
    std::vector<float> h_uncertainty(TABLES);

    std::ifstream fin("data/joint.bin", std::ios::binary);
    fin.read(reinterpret_cast<char*>(h_joint.data()), count * sizeof(int));
    if (!fin) {
        std::cerr << "could not read data/joint.bin" << std::endl;
        return 1;
    }

    int *d_joint = nullptr, *d_row_sum = nullptr, *d_col_sum = nullptr, *d_total = nullptr;
    float *d_information = nullptr, *d_uncertainty = nullptr;
    cudaMalloc(&d_joint, count * sizeof(int));
    cudaMalloc(&d_information, TABLES * sizeof(float));
    cudaMalloc(&d_uncertainty, TABLES * sizeof(float));
    cudaMalloc(&d_row_sum, TABLES * BINS_X * sizeof(int));
    cudaMalloc(&d_col_sum, TABLES * BINS_Y * sizeof(int));
    cudaMalloc(&d_total, TABLES * sizeof(int));
    cudaMemcpy(d_joint, h_joint.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_row_sum, 0, TABLES * BINS_X * sizeof(int));
    cudaMemset(d_col_sum, 0, TABLES * BINS_Y * sizeof(int));
    cudaMemset(d_total, 0, TABLES * sizeof(int));

    const int threads = 256;
    marginals<<<(TABLES * CELLS + threads - 1) / threads, threads>>>(d_joint, d_row_sum, d_col_sum, d_total);
    mutual_information<<<(TABLES + 64 - 1) / 64, 64>>>(d_joint, d_row_sum, d_col_sum, d_total, d_information,
                                                       d_uncertainty);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_information.data(), d_information, TABLES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_uncertainty.data(), d_uncertainty, TABLES * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_information("data/information.bin", std::ios::binary);
    out_information.write(reinterpret_cast<char*>(h_information.data()), TABLES * sizeof(float));
    std::ofstream out_uncertainty("data/uncertainty.bin", std::ios::binary);
    out_uncertainty.write(reinterpret_cast<char*>(h_uncertainty.data()), TABLES * sizeof(float));

    cudaFree(d_joint);
    cudaFree(d_information);
    cudaFree(d_uncertainty);
    cudaFree(d_row_sum);
    cudaFree(d_col_sum);
    cudaFree(d_total);
    return 0;
}
