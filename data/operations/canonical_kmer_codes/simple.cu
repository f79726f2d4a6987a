#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int READS = 60;
const int LENGTH = 120;
const int K = 11;
const int KMERS = LENGTH - 10;

__device__ int base_value(unsigned char ch) {
    switch (ch) {
        case 'A': return 0;
        case 'C': return 1;
        case 'G': return 2;
        case 'T': return 3;
    }
    return -1;
}

__global__ void kmer_codes(const unsigned char* bases, unsigned int* code, int* valid) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (i >= KMERS) return;
    unsigned int forward = 0, backward = 0;
    bool known = true;
    for (int k = 0; k < K; k++) {
        int v = base_value(bases[(size_t)r * LENGTH + i + k]);
        if (v < 0) {
            known = false;
            break;
        }
        forward = forward * 4 + v;
        backward |= (unsigned int)(3 - v) << (2 * k);
    }
    code[(size_t)r * KMERS + i] = known ? min(forward, backward) : 0xffffffffu;
    if (known) atomicAdd(&valid[r], 1);
}

void compute(const unsigned char* d_bases, unsigned int* d_code, int* d_valid) {
    cudaMemset(d_valid, 0, READS * sizeof(int));
    dim3 grid((KMERS + 127) / 128, READS);
    kmer_codes<<<grid, 128>>>(d_bases, d_code, d_valid);
}

int main() {
    const int n_bases = READS * LENGTH;
    const int n_code = READS * KMERS;
    std::vector<unsigned char> host_bases(n_bases);
    std::vector<unsigned int> host_code(n_code);
    std::vector<int> host_valid(READS);
    FILE* file_bases = fopen("data/bases.bin", "rb");
    if (!file_bases || fread(host_bases.data(), sizeof(unsigned char), host_bases.size(),
            file_bases) != host_bases.size()) {
        fprintf(stderr, "could not open data/bases.bin\n");
        return 1;
    }
    fclose(file_bases);

    unsigned char* d_bases = nullptr;
    cudaMalloc(&d_bases, n_bases * sizeof(unsigned char));
    unsigned int* d_code = nullptr;
    cudaMalloc(&d_code, n_code * sizeof(unsigned int));
    int* d_valid = nullptr;
    cudaMalloc(&d_valid, READS * sizeof(int));
    cudaMemcpy(d_bases, host_bases.data(), n_bases * sizeof(unsigned char), cudaMemcpyHostToDevice);

    compute(d_bases, d_code, d_valid);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    cudaMemcpy(host_code.data(), d_code, n_code * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_valid.data(), d_valid, READS * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* out_code = fopen("data/code.bin", "wb");
    fwrite(host_code.data(), sizeof(unsigned int), host_code.size(), out_code);
    fclose(out_code);
    FILE* out_valid = fopen("data/valid.bin", "wb");
    fwrite(host_valid.data(), sizeof(int), host_valid.size(), out_valid);
    fclose(out_valid);
    cudaFree(d_bases);
    cudaFree(d_code);
    cudaFree(d_valid);
    return 0;
}
