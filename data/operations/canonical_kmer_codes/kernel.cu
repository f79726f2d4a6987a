#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load_array(const std::string& path, T* data, size_t n) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(data, sizeof(T), n, f) != n) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

template <typename T>
void save_array(const std::string& path, const T* data, size_t n) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(data, sizeof(T), n, f) != n) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kReads = 60;
constexpr int kLength = 120;

constexpr int KMERS = kLength - 10;
constexpr int RUN = 16;
constexpr int THREADS = 64;
constexpr unsigned int MASK = (1u << 22) - 1;

// A thread rolls both codes over 16 neighbouring positions; 'since' counts known letters in a row.
__global__ void roll_kmers(const unsigned char* __restrict__ bases, unsigned int* __restrict__ code, int* valid) {
    __shared__ signed char value[256];
    for (int ch = threadIdx.x; ch < 256; ch += THREADS) {
        value[ch] = ch == 'A' ? 0 : ch == 'C' ? 1 : ch == 'G' ? 2 : ch == 'T' ? 3 : -1;
    }
    __syncthreads();
    const int first = (blockIdx.x * THREADS + threadIdx.x) * RUN;
    if (first >= KMERS) return;
    const unsigned char* read = bases + (size_t)blockIdx.y * kLength;
    unsigned int* out = code + (size_t)blockIdx.y * KMERS;
    unsigned int forward = 0, backward = 0;
    int since = 0, count = 0;
    const int end = min(first + RUN, KMERS) + 10;
    for (int i = first; i < end; ++i) {
        const int v = value[read[i]];
        since = v < 0 ? 0 : since + 1;
        const unsigned int digit = v & 3;
        forward = (forward << 2 | digit) & MASK;
        backward = backward >> 2 | (3u - digit) << 20;
        if (i >= first + 10) {
            const bool known = since >= 11;
            out[i - 10] = known ? min(forward, backward) : 0xffffffffu;
            count += known;
        }
    }
    if (count > 0) atomicAdd(&valid[blockIdx.y], count);
}

int main() {
    const int count_bases = kReads * kLength;
    const int count_code = kReads * KMERS;
    unsigned char* h_bases = new unsigned char[count_bases];
    unsigned int* h_code = new unsigned int[count_code];
    int* h_valid = new int[kReads];
    load_array("data/bases.bin", h_bases, count_bases);

    unsigned char* d_bases;
    cudaMalloc(&d_bases, sizeof(unsigned char) * count_bases);
    unsigned int* d_code;
    cudaMalloc(&d_code, sizeof(unsigned int) * count_code);
    int* d_valid;
    cudaMalloc(&d_valid, sizeof(int) * kReads);
    cudaMemcpy(d_bases, h_bases, sizeof(unsigned char) * count_bases, cudaMemcpyHostToDevice);

    cudaMemset(d_valid, 0, kReads * sizeof(int));
    dim3 grid((KMERS + RUN * THREADS - 1) / RUN * THREADS, kReads);
    roll_kmers<<<grid, THREADS>>>(d_bases, d_code, d_valid);

    cudaMemcpy(h_code, d_code, sizeof(unsigned int) * count_code, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_valid, d_valid, sizeof(int) * kReads, cudaMemcpyDeviceToHost);
    save_array("data/code.bin", h_code, count_code);
    save_array("data/valid.bin", h_valid, kReads);

    cudaFree(d_bases);
    cudaFree(d_code);
    cudaFree(d_valid);
    delete[] h_bases;
    delete[] h_code;
    delete[] h_valid;
    return 0;
}
