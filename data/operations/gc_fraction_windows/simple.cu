#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define GENOMES 5
#define LENGTH 3000
const int WINDOWS = (LENGTH - 200) / 25 + 1;

__global__ void gc_windows(const unsigned char* genome, float* gc) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= GENOMES * WINDOWS) return;
    int s = i / WINDOWS;
    const unsigned char* p = genome + s * LENGTH + (i % WINDOWS) * 25;
    int strong = 0, valid = 0;
    for (int k = 0; k < 200; k++) {
        if (p[k] == 'G' || p[k] == 'C') strong++;
        if (p[k] != 'N') valid++;
    }
    gc[i] = valid > 0 ? (float)strong / valid : -1.0f;
}

int main() {
    unsigned char* genome = (unsigned char*)malloc(GENOMES * LENGTH * sizeof(unsigned char));
    float* gc = (float*)malloc(GENOMES * WINDOWS * sizeof(float));
    FILE* f = fopen("data/genome.bin", "rb");
    if (!f || fread(genome, sizeof(unsigned char), GENOMES * LENGTH, f) != (size_t)(GENOMES * LENGTH)) return 1;
    fclose(f);
    unsigned char *d_genome;
    float *d_gc;
    cudaMalloc(&d_genome, GENOMES * LENGTH * sizeof(unsigned char));
    cudaMalloc(&d_gc, GENOMES * WINDOWS * sizeof(float));
    cudaMemcpy(d_genome, genome, GENOMES * LENGTH * sizeof(unsigned char), cudaMemcpyHostToDevice);
    gc_windows<<<(GENOMES * WINDOWS + 127) / 128, 128>>>(d_genome, d_gc);
    cudaMemcpy(gc, d_gc, GENOMES * WINDOWS * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/gc.bin", "wb");
    fwrite(gc, sizeof(float), GENOMES * WINDOWS, f);
    fclose(f);
    cudaFree(d_genome);
    cudaFree(d_gc);
    return 0;
}
