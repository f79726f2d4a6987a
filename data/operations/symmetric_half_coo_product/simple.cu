#include <vector>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 800;
constexpr int kEntries = 6000;

__global__ void symmetricProduct(const int* row, const int* col, const float* value, const float* x, float* y) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= kEntries) return;
    int r = row[k], c = col[k];
    float v = value[k];
    atomicAdd(&y[r], v * x[c]);
    if (r != c) atomicAdd(&y[c], v * x[r]);
}

void solve(const int* d_row, const int* d_col, const float* d_value, const float* d_x, float* d_y) {
    cudaMemset(d_y, 0, kN * sizeof(float));
    symmetricProduct<<<(kEntries + 255) / 256, 256>>>(d_row, d_col, d_value, d_x, d_y);
    cudaDeviceSynchronize();
}

int main() {
    std::vector<int> host_row(kEntries);
    std::vector<int> host_col(kEntries);
    std::vector<float> host_value(kEntries);
    std::vector<float> host_x(kN);
    std::vector<float> host_y(kN);
    FILE* file0 = fopen("data/row.bin", "rb");
    if (!file0 || fread(host_row.data(), sizeof(int), host_row.size(), file0) != host_row.size()) {
        fprintf(stderr, "cannot read data/row.bin\n");
        return 1;
    }
    fclose(file0);
    FILE* file1 = fopen("data/col.bin", "rb");
    if (!file1 || fread(host_col.data(), sizeof(int), host_col.size(), file1) != host_col.size()) {
        fprintf(stderr, "cannot read data/col.bin\n");
        return 1;
    }
    fclose(file1);
    FILE* file2 = fopen("data/value.bin", "rb");
    if (!file2 || fread(host_value.data(), sizeof(float), host_value.size(), file2) != host_value.size()) {
        fprintf(stderr, "cannot read data/value.bin\n");
        return 1;
    }
    fclose(file2);
    FILE* file3 = fopen("data/x.bin", "rb");
    if (!file3 || fread(host_x.data(), sizeof(float), host_x.size(), file3) != host_x.size()) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    fclose(file3);

    int* d_row = nullptr;
    int* d_col = nullptr;
    float* d_value = nullptr;
    float* d_x = nullptr;
    float* d_y = nullptr;
    cudaMalloc(&d_row, kEntries * sizeof(int));
    cudaMemcpy(d_row, host_row.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_col, kEntries * sizeof(int));
    cudaMemcpy(d_col, host_col.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_value, kEntries * sizeof(float));
    cudaMemcpy(d_value, host_value.data(), kEntries * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, kN * sizeof(float));
    cudaMemcpy(d_x, host_x.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, kN * sizeof(float));
    solve(d_row, d_col, d_value, d_x, d_y);
    cudaMemcpy(host_y.data(), d_y, kN * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/y.bin", "wb");
    fwrite(host_y.data(), sizeof(float), host_y.size(), out0);
    fclose(out0);

    cudaFree(d_row);
    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
