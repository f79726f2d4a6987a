#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int VERTICES = 130;
const int WORDS = (VERTICES + 31) / 32;

__global__ void clustering(const unsigned int* bits, int* links, float* coefficient) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= VERTICES) return;
    const unsigned int* mine = bits + v * WORDS;
    int degree = 0, twice = 0;
    for (int u = 0; u < VERTICES; ++u) {
        if ((mine[u / 32] >> (u % 32) & 1u) == 0) continue;
        ++degree;
        const unsigned int* other = bits + u * WORDS;
        for (int w = 0; w < WORDS; ++w) twice += __popc(mine[w] & other[w]);
    }
    links[v] = twice / 2;
    coefficient[v] = degree < 2 ? 0.0f : (float)twice / ((float)degree * (degree - 1));
}

int main() {
    std::vector<unsigned int> bits(VERTICES * WORDS);
    std::vector<int> links(VERTICES);
    std::vector<float> coefficient(VERTICES);
    FILE* f0 = fopen("data/bits.bin", "rb");
    if (!f0 || fread(bits.data(), sizeof(unsigned int), VERTICES * WORDS, f0) != VERTICES * WORDS) return 1;
    fclose(f0);
    unsigned int *bits_d;
    int *links_d;
    float *coefficient_d;
    cudaMalloc(&bits_d, VERTICES * WORDS * sizeof(unsigned int));
    cudaMalloc(&links_d, VERTICES * sizeof(int));
    cudaMalloc(&coefficient_d, VERTICES * sizeof(float));
    cudaMemcpy(bits_d, bits.data(), VERTICES * WORDS * sizeof(unsigned int), cudaMemcpyHostToDevice);
    clustering<<<(VERTICES + 63) / 64, 64>>>(bits_d, links_d, coefficient_d);
    cudaMemcpy(links.data(), links_d, VERTICES * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(coefficient.data(), coefficient_d, VERTICES * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/links.bin", "wb");
    fwrite(links.data(), sizeof(int), VERTICES, o0);
    fclose(o0);
    FILE* o1 = fopen("data/coefficient.bin", "wb");
    fwrite(coefficient.data(), sizeof(float), VERTICES, o1);
    fclose(o1);
    cudaFree(bits_d); cudaFree(links_d); cudaFree(coefficient_d);
    return 0;
}
