#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct Buffer {
    T* ptr = nullptr;
    size_t count;
    explicit Buffer(size_t n) : count(n) {
        if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~Buffer() { cudaFree(ptr); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void upload(const std::vector<T>& v) {
        cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    void download(std::vector<T>& v) const {
        cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

constexpr int kGenes = 100;
constexpr int kCodons = 60;
#define THREADS 128

// One block per gene; the first stop codon is a minimum in shared memory.
__global__ void translate_gene(const unsigned char* __restrict__ dna, const unsigned char* __restrict__ table,
                               unsigned char* __restrict__ protein, int* __restrict__ stop) {
    __shared__ unsigned char amino[64];
    __shared__ signed char value[256];
    __shared__ int first;
    for (int ch = threadIdx.x; ch < 256; ch += THREADS)
        value[ch] = ch == 'T' ? 0 : ch == 'C' ? 1 : ch == 'A' ? 2 : ch == 'G' ? 3 : -1;
    if (threadIdx.x < 64) amino[threadIdx.x] = table[threadIdx.x];
    if (threadIdx.x == 0) first = kCodons;
    __syncthreads();
    const size_t base = (size_t)blockIdx.x * kCodons;
    int mine = kCodons;
    for (int k = threadIdx.x; k < kCodons; k += THREADS) {
        const unsigned char* d = dna + 3 * (base + k);
        const int a = value[d[0]], b = value[d[1]], c = value[d[2]];
        const unsigned char letter = (a | b | c) < 0 ? 'X' : amino[a << 4 | b << 2 | c];
        protein[base + k] = letter;
        if (letter == '*') mine = min(mine, k);
    }
    if (mine < kCodons) atomicMin(&first, mine);
    __syncthreads();
    if (threadIdx.x == 0) stop[blockIdx.x] = first;
}

int main() {
    std::vector<unsigned char> dna = load<unsigned char>("data/dna.bin", kGenes * (kCodons * 3));
    std::vector<unsigned char> table = load<unsigned char>("data/table.bin", 64);
    std::vector<unsigned char> protein(kGenes * kCodons);
    std::vector<int> stop(kGenes);

    Buffer<unsigned char> dev_dna(kGenes * (kCodons * 3));
    Buffer<unsigned char> dev_table(64);
    Buffer<unsigned char> dev_protein(kGenes * kCodons);
    Buffer<int> dev_stop(kGenes);
    dev_dna.upload(dna);
    dev_table.upload(table);

    translate_gene<<<kGenes, THREADS>>>(dev_dna.ptr, dev_table.ptr, dev_protein.ptr, dev_stop.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }

    dev_protein.download(protein);
    dev_stop.download(stop);
    std::ofstream out_protein("data/protein.bin", std::ios::binary);
    out_protein.write(reinterpret_cast<char*>(protein.data()), kGenes * kCodons * sizeof(unsigned char));
    std::ofstream out_stop("data/stop.bin", std::ios::binary);
    out_stop.write(reinterpret_cast<char*>(stop.data()), kGenes * sizeof(int));
    return 0;
}
