#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("cannot read " + path);
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kGenes = 100;
constexpr int kCodons = 60;

__device__ int letter_value(unsigned char base) {
    if (base == 'T') return 0;
    if (base == 'C') return 1;
    if (base == 'A') return 2;
    if (base == 'G') return 3;
    return -1;
}

__global__ void translate(const unsigned char* dna, const unsigned char* table, unsigned char* protein) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kGenes * kCodons) return;
    int a = letter_value(dna[3 * i]);
    int b = letter_value(dna[3 * i + 1]);
    int c = letter_value(dna[3 * i + 2]);
    if (a < 0 || b < 0 || c < 0) {
        protein[i] = 'X';
    } else {
        protein[i] = table[16 * a + 4 * b + c];
    }
}

__global__ void find_stop(const unsigned char* protein, int* stop) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= kGenes) return;
    int k = 0;
    while (k < kCodons && protein[g * kCodons + k] != '*') k++;
    stop[g] = k;
}

int main() {
    constexpr size_t n_dna = kGenes * (kCodons * 3);
    constexpr size_t n_protein = kGenes * kCodons;
    const auto dna = read_vector<unsigned char>("data/dna.bin", n_dna);
    auto table = read_vector<unsigned char>("data/table.bin", 64);
    std::vector<unsigned char> protein(n_protein);
    std::vector<int> stop(kGenes);

    unsigned char* dev_dna = nullptr;
    unsigned char* dev_table = nullptr;
    unsigned char* dev_protein = nullptr;
    int* dev_stop = nullptr;
    cudaMalloc(&dev_dna, dna.size() * sizeof(unsigned char));
    cudaMalloc(&dev_table, table.size() * sizeof(unsigned char));
    cudaMalloc(&dev_protein, protein.size() * sizeof(unsigned char));
    cudaMalloc(&dev_stop, stop.size() * sizeof(int));
    cudaMemcpy(dev_dna, dna.data(), dna.size() * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_table, table.data(), table.size() * sizeof(unsigned char), cudaMemcpyHostToDevice);

    translate<<<(kGenes * kCodons + 255) / 256, 256>>>(dev_dna, dev_table, dev_protein);
    find_stop<<<(kGenes + 127) / 128, 128>>>(dev_protein, dev_stop);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;

    cudaMemcpy(protein.data(), dev_protein, protein.size() * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(stop.data(), dev_stop, stop.size() * sizeof(int), cudaMemcpyDeviceToHost);
    write_vector("data/protein.bin", protein);
    write_vector("data/stop.bin", stop);
    cudaFree(dev_dna);
    cudaFree(dev_table);
    cudaFree(dev_protein);
    cudaFree(dev_stop);
    return 0;
}
