#include <cuda_runtime.h>
#include <vector>
#include <cstdio>

constexpr int N = 1500;
constexpr int WIDTH = 5;
constexpr int SWEEPS = 10;

__global__ void jacobi(const int* col, const float* value, const float* diagonal, const float* b,
                       const float* x, float* x_new) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float rest = b[i];
    for (int k = 0; k < WIDTH; ++k) {
        int c = col[k * N + i];
        if (c >= 0) rest -= value[k * N + i] * x[c];
    }
    x_new[i] = rest / diagonal[i];
}

void solve(const int* col_d, const float* value_d, const float* diagonal_d, const float* b_d, float* x_d,
        float* other_d) {
    cudaMemset(x_d, 0, N * sizeof(float));
    float* now = x_d;
    float* next = other_d;
    for (int s = 0; s < SWEEPS; ++s) {
        jacobi<<<(N + 255) / 256, 256>>>(col_d, value_d, diagonal_d, b_d, now, next);
        float* old = now;
        now = next;
        next = old;
    }
    cudaDeviceSynchronize();
}

int main() {
    std::vector<int> host_col(WIDTH * N);
    std::vector<float> host_value(WIDTH * N);
    std::vector<float> host_diagonal(N);
    std::vector<float> host_b(N);
    std::vector<float> host_x(N);
    FILE* file0 = fopen("data/col.bin", "rb");
    if (!file0 || fread(host_col.data(), sizeof(int), host_col.size(), file0) != host_col.size()) {
        fprintf(stderr, "cannot read data/col.bin\n");
        return 1;
    }
    fclose(file0);
    FILE* file1 = fopen("data/value.bin", "rb");
    if (!file1 || fread(host_value.data(), sizeof(float), host_value.size(), file1) != host_value.size()) {
        fprintf(stderr, "cannot read data/value.bin\n");
        return 1;
    }
    fclose(file1);
    FILE* file2 = fopen("data/diagonal.bin", "rb");
    if (!file2 || fread(host_diagonal.data(), sizeof(float), host_diagonal.size(),
            file2) != host_diagonal.size()) {
        fprintf(stderr, "cannot read data/diagonal.bin\n");
        return 1;
    }
    fclose(file2);
    FILE* file3 = fopen("data/b.bin", "rb");
    if (!file3 || fread(host_b.data(), sizeof(float), host_b.size(), file3) != host_b.size()) {
        fprintf(stderr, "cannot read data/b.bin\n");
        return 1;
    }
    fclose(file3);

    int* col_d = nullptr;
    float* value_d = nullptr;
    float* diagonal_d = nullptr;
    float* b_d = nullptr;
    float* x_d = nullptr;
    float* other_d = nullptr;
    cudaMalloc(&col_d, WIDTH * N * sizeof(int));
    cudaMalloc(&value_d, WIDTH * N * sizeof(float));
    cudaMalloc(&diagonal_d, N * sizeof(float));
    cudaMalloc(&b_d, N * sizeof(float));
    cudaMalloc(&x_d, N * sizeof(float));
    cudaMalloc(&other_d, N * sizeof(float));
    cudaMemcpy(col_d, host_col.data(), WIDTH * N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(value_d, host_value.data(), WIDTH * N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(diagonal_d, host_diagonal.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b_d, host_b.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    solve(col_d, value_d, diagonal_d, b_d, x_d, other_d);
    cudaMemcpy(host_x.data(), x_d, N * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/x.bin", "wb");
    fwrite(host_x.data(), sizeof(float), host_x.size(), out0);
    fclose(out0);

    cudaFree(col_d);
    cudaFree(value_d);
    cudaFree(diagonal_d);
    cudaFree(b_d);
    cudaFree(x_d);
    cudaFree(other_d);
    return 0;
}
