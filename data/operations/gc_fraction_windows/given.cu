#define GENOMES 5
#define LENGTH 3000
const int WINDOWS = (LENGTH - 200) / 25 + 1;

__global__ void gc_content(const unsigned char* genome, float* gc, int genomes, int length, int windows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= genomes * windows) return;
    int g = i / windows;
    int w = i % windows;
    const unsigned char* base = genome + g * length + 25 * w;
    int strong = 0;
    int valid = 0;
    for (int k = 0; k < 200; k++) {
        if (base[k] == 'G' || base[k] == 'C') strong++;
        if (base[k] != 'N') valid++;
    }
    gc[i] = valid > 0 ? (float)strong / valid : -1.0f;
}

int main() {
    const int genome_total = GENOMES * LENGTH;
    const int gc_total = GENOMES * WINDOWS;
    const size_t genome_floats = (genome_total + 3) / 4;
    unsigned char* h_genome = new unsigned char[4 * genome_floats];
    read_binary("data/genome.bin", reinterpret_cast<float*>(h_genome), genome_floats);
    unsigned char* d_genome;
    cudaMalloc(&d_genome, genome_total * sizeof(unsigned char));
    cudaMemcpy(d_genome, h_genome, genome_total * sizeof(unsigned char), cudaMemcpyHostToDevice);

    float* h_gc = new float[gc_total];
    float* d_gc;
    cudaMalloc(&d_gc, gc_total * sizeof(float));

    int block = 128;
    int grid = (gc_total + block - 1) / block;
    gc_content<<<grid, block>>>(d_genome, d_gc, GENOMES, LENGTH, WINDOWS);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_gc, d_gc, gc_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/gc.bin", h_gc, gc_total);

    cudaFree(d_genome);
    delete[] h_genome;
    cudaFree(d_gc);
    delete[] h_gc;
    return 0;
}
