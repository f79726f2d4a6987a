#include <cstdio>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int N = 20001;

__global__ void table_activation(const uint8_t* codes, const uint8_t* table, uint8_t* out,
                                 int* clipped, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint8_t v = table[codes[i]];
        out[i] = v;
        if (v == 0 || v == 255) atomicAdd(clipped, 1);
    }
}

int main() {
    uint8_t* codes = new uint8_t[N];
    uint8_t* table = new uint8_t[256];
    uint8_t* out = new uint8_t[N];
    int* clipped = new int[1];
    FILE* f = fopen("data/codes.bin", "rb");
    if (!f || fread(codes, sizeof(uint8_t), N, f) != N) return 1;
    fclose(f);
    f = fopen("data/table.bin", "rb");
    if (!f || fread(table, sizeof(uint8_t), 256, f) != 256) return 1;
    fclose(f);
    uint8_t *d_codes = nullptr, *d_table = nullptr, *d_out = nullptr;
    int* d_clipped = nullptr;
    cudaMalloc(&d_codes, N * sizeof(uint8_t));
    cudaMalloc(&d_table, 256 * sizeof(uint8_t));
    cudaMalloc(&d_out, N * sizeof(uint8_t));
    cudaMalloc(&d_clipped, sizeof(int));
    cudaMemcpy(d_codes, codes, N * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_table, table, 256 * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemset(d_clipped, 0, sizeof(int));
    table_activation<<<(N + 256 - 1) / 256, 256>>>(d_codes, d_table, d_out, d_clipped, N);
    cudaMemcpy(out, d_out, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(clipped, d_clipped, sizeof(int), cudaMemcpyDeviceToHost);
    f = fopen("data/out.bin", "wb");
    fwrite(out, sizeof(uint8_t), N, f);
    fclose(f);
    f = fopen("data/clipped.bin", "wb");
    fwrite(clipped, sizeof(int), 1, f);
    fclose(f);
    cudaFree(d_codes); cudaFree(d_table); cudaFree(d_out); cudaFree(d_clipped);
    return 0;
}
