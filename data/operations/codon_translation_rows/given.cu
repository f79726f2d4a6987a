constexpr int kGenes = 100;
constexpr int kCodons = 60;

__device__ int base_index(unsigned char base) {
    if (base == 'T') return 0;
    if (base == 'C') return 1;
    if (base == 'A') return 2;
    if (base == 'G') return 3;
    return -1;
}

__global__ void translate_codons(const unsigned char* dna, const unsigned char* table, unsigned char* protein, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = base_index(dna[3 * i]);
    int b = base_index(dna[3 * i + 1]);
    int c = base_index(dna[3 * i + 2]);
    bool known = a >= 0 && b >= 0 && c >= 0;
    protein[i] = known ? table[16 * a + 4 * b + c] : 'X';
}

__global__ void first_stop(const unsigned char* protein, int* stop, int genes, int codons) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= genes) return;
    int k = 0;
    while (k < codons && protein[g * codons + k] != '*') k++;
    stop[g] = k;
}

int main() {
    const size_t dna_size = kGenes * kCodons * 3;
    const int protein_total = kGenes * kCodons;
    const size_t dna_floats = (dna_size + 3) / 4;
    const size_t table_floats = (64 + 3) / 4;

    unsigned char* h_dna = new unsigned char[4 * dna_floats];
    unsigned char* h_table = new unsigned char[4 * table_floats];
    unsigned char* h_protein = new unsigned char[protein_total];
    int* h_stop = new int[kGenes];

    read_binary("data/dna.bin", reinterpret_cast<float*>(h_dna), dna_floats);
    read_binary("data/table.bin", reinterpret_cast<float*>(h_table), table_floats);

    unsigned char* d_dna;
    unsigned char* d_table;
    unsigned char* d_protein;
    int* d_stop;
    cudaMalloc(&d_dna, dna_size * sizeof(unsigned char));
    cudaMalloc(&d_table, sizeof(unsigned char) * 64);
    cudaMalloc(&d_protein, protein_total * sizeof(unsigned char));
    cudaMalloc(&d_stop, sizeof(int) * kGenes);
    cudaMemcpy(d_dna, h_dna, dna_size * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_table, h_table, sizeof(unsigned char) * 64, cudaMemcpyHostToDevice);

    const int threads = 256;
    translate_codons<<<(protein_total + threads - 1) / threads, threads>>>(d_dna, d_table, d_protein,
            protein_total);
    first_stop<<<(kGenes + threads - 1) / threads, threads>>>(d_protein, d_stop, kGenes, kCodons);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_protein, d_protein, protein_total * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out("data/protein.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_protein), protein_total);
    cudaMemcpy(h_stop, d_stop, sizeof(int) * kGenes, cudaMemcpyDeviceToHost);
    write_binary("data/stop.bin", reinterpret_cast<const float*>(h_stop), kGenes);

    cudaFree(d_dna);
    delete[] h_dna;
    cudaFree(d_table);
    delete[] h_table;
    cudaFree(d_protein);
    delete[] h_protein;
    cudaFree(d_stop);
    delete[] h_stop;
    return 0;
}
