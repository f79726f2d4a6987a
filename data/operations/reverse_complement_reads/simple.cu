#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int READS = 100;
constexpr int WIDTH = 150;

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}

static bool readAll(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool writeAll(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__device__ unsigned char pair_of(unsigned char base) {
    switch (base) {
        case 'A': case 'a': return 'T';
        case 'C': case 'c': return 'G';
        case 'G': case 'g': return 'C';
        case 'T': case 't': return 'A';
        default: return 'N';
    }
}

__global__ void reverse_complement(const unsigned char* bases, const int* lengths, unsigned char* complement,
                                   int* unknown) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= READS * WIDTH) return;
    int r = i / WIDTH;
    int source = lengths[r] - 1 - i % WIDTH;
    unsigned char result = 0;
    if (source >= 0) {
        result = pair_of(bases[r * WIDTH + source]);
        if (result == 'N') atomicAdd(&unknown[r], 1);
    }
    complement[i] = result;
}

int main() {
    std::vector<unsigned char> h_bases(READS * WIDTH);
    std::vector<int> h_lengths(READS);
    std::vector<unsigned char> h_complement(READS * WIDTH);
    std::vector<int> h_unknown(READS);
    if (!readAll("data/bases.bin", h_bases.data(), READS * WIDTH * sizeof(unsigned char)) ||
        !readAll("data/lengths.bin", h_lengths.data(), READS * sizeof(int))) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    unsigned char* dev_bases = nullptr;
    int* dev_lengths = nullptr;
    unsigned char* dev_complement = nullptr;
    int* dev_unknown = nullptr;
    check(cudaMalloc(&dev_bases, READS * WIDTH * sizeof(unsigned char)), "cudaMalloc bases");
    check(cudaMalloc(&dev_lengths, READS * sizeof(int)), "cudaMalloc lengths");
    check(cudaMalloc(&dev_complement, READS * WIDTH * sizeof(unsigned char)), "cudaMalloc");
    check(cudaMalloc(&dev_unknown, READS * sizeof(int)), "cudaMalloc unknown");
    check(cudaMemcpy(dev_bases, h_bases.data(), READS * WIDTH, cudaMemcpyHostToDevice), "copy bases");
    check(cudaMemcpy(dev_lengths, h_lengths.data(), READS * sizeof(int), cudaMemcpyHostToDevice), "copy lengths");

    check(cudaMemset(dev_unknown, 0, READS * sizeof(int)), "prepare");
    reverse_complement<<<(READS * WIDTH + 255) / 256, 256>>>(dev_bases, dev_lengths, dev_complement, dev_unknown);
    check(cudaGetLastError(), "kernel launch");
    check(cudaMemcpy(h_complement.data(), dev_complement, READS * WIDTH, cudaMemcpyDeviceToHost),
            "copy complement");
    check(cudaMemcpy(h_unknown.data(), dev_unknown, READS * sizeof(int), cudaMemcpyDeviceToHost), "copy unknown");

    if (!writeAll("data/complement.bin", h_complement.data(), READS * WIDTH * sizeof(unsigned char))) return 1;
    if (!writeAll("data/unknown.bin", h_unknown.data(), READS * sizeof(int))) return 1;
    cudaFree(dev_bases);
    cudaFree(dev_lengths);
    cudaFree(dev_complement);
    cudaFree(dev_unknown);
    return 0;
}
