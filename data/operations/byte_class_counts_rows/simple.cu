#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void checkCuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}

bool readAll(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool writeAll(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static const int RECORDS = 200;
static const int WIDTH = 100;

__device__ int char_class(unsigned char ch) {
    unsigned char low = ch | 32;
    if (low >= 'a' && low <= 'z') {
        return low == 'a' || low == 'e' || low == 'i' || low == 'o' || low == 'u' ? 0 : 1;
    }
    if (ch >= '0' && ch <= '9') return 2;
    if (ch == ' ' || ch == 9 || ch == 10 || ch == 13) return 3;
    return 4;
}

__global__ void count_classes(const unsigned char* text, int* counts) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= RECORDS) return;
    int n[5] = {0, 0, 0, 0, 0};
    for (int i = 0; i < WIDTH; i++) {
        n[char_class(text[r * WIDTH + i])]++;
    }
    for (int k = 0; k < 5; k++) counts[r * 5 + k] = n[k];
}

int main() {
    std::vector<unsigned char> text(RECORDS * WIDTH);
    std::vector<int> counts(RECORDS * 5);
    if (!readAll("data/text.bin", text.data(), RECORDS * WIDTH * sizeof(unsigned char))) {
        fprintf(stderr, "failed to read data/text.bin\n");
        return 1;
    }

    unsigned char* d_text = nullptr;
    int* d_counts = nullptr;
    checkCuda(cudaMalloc(&d_text, RECORDS * WIDTH * sizeof(unsigned char)), "cudaMalloc text");
    checkCuda(cudaMalloc(&d_counts, RECORDS * 5 * sizeof(int)), "cudaMalloc");
    checkCuda(cudaMemcpy(d_text, text.data(), RECORDS * WIDTH * sizeof(unsigned char),
            cudaMemcpyHostToDevice), "copy text");

    count_classes<<<(RECORDS + 127) / 128, 128>>>(d_text, d_counts);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(counts.data(), d_counts, RECORDS * 5 * sizeof(int), cudaMemcpyDeviceToHost),
            "copy counts");

    if (!writeAll("data/counts.bin", counts.data(), RECORDS * 5 * sizeof(int))) return 1;
    cudaFree(d_text);
    cudaFree(d_counts);
    return 0;
}
