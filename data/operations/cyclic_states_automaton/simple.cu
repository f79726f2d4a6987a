#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_bin(const char* file_name, int* ptr, size_t n) {
    FILE* f = fopen(file_name, "rb");
    size_t got = f ? fread(ptr, sizeof(int), n, f) : 0;
    if (got != n) {
        fprintf(stderr, "%s: short read\n", file_name);
        exit(1);
    }
    fclose(f);
}

void write_bin(const char* file_name, const int* ptr, size_t n) {
    FILE* f = fopen(file_name, "wb");
    if (!f || fwrite(ptr, sizeof(int), n, f) != n) {
        fprintf(stderr, "%s: write failed\n", file_name);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kHeight = 70;
constexpr int kWidth = 110;
constexpr int kColors = 5;

__global__ void cyclic_step(const int* state, int* next_state, int* advanced) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= kWidth) return;
    int s = state[y * kWidth + x];
    int successor = (s + 1) % kColors;
    int up = state[(y + kHeight - 1) % kHeight * kWidth + x];
    int down = state[(y + 1) % kHeight * kWidth + x];
    int left = state[y * kWidth + (x + kWidth - 1) % kWidth];
    int right = state[y * kWidth + (x + 1) % kWidth];
    bool hit = up == successor || down == successor || left == successor || right == successor;
    next_state[y * kWidth + x] = hit ? successor : s;
    if (hit) atomicAdd(&advanced[y], 1);
}

int main() {
    const int n = kHeight * kWidth;

    int* h_state = new int[n];
    int* h_next_state = new int[n];
    int* h_advanced = new int[kHeight];
    int* d_state = nullptr;
    int* d_next_state = nullptr;
    int* d_advanced = nullptr;
    cudaMalloc(&d_state, n * sizeof(int));
    cudaMalloc(&d_next_state, n * sizeof(int));
    cudaMalloc(&d_advanced, kHeight * sizeof(int));

    read_bin("data/state.bin", h_state, n);
    cudaMemcpy(d_state, h_state, n * sizeof(int), cudaMemcpyHostToDevice);

    cudaMemset(d_advanced, 0, kHeight * sizeof(int));
    dim3 grid((kWidth + 255) / 256, kHeight);
    cyclic_step<<<grid, 256>>>(d_state, d_next_state, d_advanced);

    cudaMemcpy(h_next_state, d_next_state, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_advanced, d_advanced, kHeight * sizeof(int), cudaMemcpyDeviceToHost);
    write_bin("data/next_state.bin", h_next_state, n);
    write_bin("data/advanced.bin", h_advanced, kHeight);

    cudaFree(d_state);
    cudaFree(d_next_state);
    cudaFree(d_advanced);
    delete[] h_state;
    delete[] h_next_state;
    delete[] h_advanced;
    return 0;
}
