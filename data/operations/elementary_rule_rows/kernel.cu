#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static inline void checkCuda(cudaError_t e, const char* msg) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e));
        exit(1);
    }
}

static bool load_file(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool save_file(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

constexpr int ROWS = 64;
constexpr int WIDTH = 200;
constexpr int GENERATIONS = 10;

__global__ void evolve_ring(const unsigned char* cells, const int* rule, unsigned char* evolved) {
    __shared__ unsigned char ring[2][WIDTH];
    const size_t base = (size_t)blockIdx.x * WIDTH;
    const int number = rule[blockIdx.x];
    for (int x = threadIdx.x; x < WIDTH; x += blockDim.x) ring[0][x] = cells[base + x];
    __syncthreads();
    for (int g = 0; g < GENERATIONS; ++g) {
        const unsigned char* a = ring[g & 1];
        unsigned char* b = ring[~g & 1];
        for (int x = threadIdx.x; x < WIDTH; x += blockDim.x) {
            int l = a[x > 0 ? x - 1 : WIDTH - 1], r = a[x + 1 < WIDTH ? x + 1 : 0];
            b[x] = number >> (l << 2 | a[x] << 1 | r) & 1;
        }
        __syncthreads();
    }
    for (int x = threadIdx.x; x < WIDTH; x += blockDim.x) evolved[base + x] = ring[GENERATIONS & 1][x];
}

int main() {
    const size_t elements = (size_t)ROWS * WIDTH;
    std::vector<unsigned char> hCells(elements);
    std::vector<int> hRule(ROWS);
    std::vector<unsigned char> hEvolved(elements);
    if (!load_file("data/cells.bin", hCells.data(), elements * sizeof(unsigned char)) ||
            !load_file("data/rule.bin", hRule.data(), ROWS * sizeof(int))) {
        fprintf(stderr, "input files are missing\n");
        return 1;
    }

    unsigned char* dev_cells = nullptr;
    checkCuda(cudaMalloc(&dev_cells, elements * sizeof(unsigned char)), "malloc cells");
    int* dev_rule = nullptr;
    checkCuda(cudaMalloc(&dev_rule, ROWS * sizeof(int)), "malloc rule");
    unsigned char* dev_evolved = nullptr;
    checkCuda(cudaMalloc(&dev_evolved, elements * sizeof(unsigned char)), "malloc evolved");
    checkCuda(cudaMemcpy(dev_cells, hCells.data(), elements * sizeof(unsigned char), cudaMemcpyHostToDevice),
            "copy cells");
    checkCuda(cudaMemcpy(dev_rule, hRule.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice), "copy rule");

    evolve_ring<<<ROWS, 256>>>(dev_cells, dev_rule, dev_evolved);
    checkCuda(cudaGetLastError(), "launch");

    checkCuda(cudaMemcpy(hEvolved.data(), dev_evolved, elements * sizeof(unsigned char),
            cudaMemcpyDeviceToHost), "copy evolved");
    if (!save_file("data/evolved.bin", hEvolved.data(), elements * sizeof(unsigned char))) return 1;
    cudaFree(dev_cells);
    cudaFree(dev_rule);
    cudaFree(dev_evolved);
    return 0;
}
