#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 20;
const int ITEMS = 500;
const int THREADS = 256;

inline void cuda_check(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        exit(1);
    }
}

bool load(const char* path, std::vector<int>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(int), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

bool save(const char* path, const std::vector<int>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(int), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

// Repeated squaring in shared memory: at most eight rounds in place of up to 200 steps.
__global__ void power_by_squaring(const int* __restrict__ permutation, const int* __restrict__ exponent,
                                  int* __restrict__ power) {
    __shared__ int base[ITEMS], squared[ITEMS], result[ITEMS];
    const size_t offset = (size_t)blockIdx.x * ITEMS;
    for (int i = threadIdx.x; i < ITEMS; i += THREADS) {
        base[i] = permutation[offset + i];
        result[i] = i;
    }
    __syncthreads();
    for (int e = exponent[blockIdx.x]; e > 0; e >>= 1) {
        for (int i = threadIdx.x; i < ITEMS; i += THREADS) {
            if (e & 1) result[i] = base[result[i]];
            squared[i] = base[base[i]];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < ITEMS; i += THREADS) base[i] = squared[i];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < ITEMS; i += THREADS) power[offset + i] = result[i];
}

int main() {
    const size_t elements = (size_t)ROWS * ITEMS;
    std::vector<int> h_permutation(elements);
    std::vector<int> h_exponent(ROWS);
    std::vector<int> h_power(elements);
    if (!load("data/permutation.bin", h_permutation)) {
        fprintf(stderr, "cannot read data/permutation.bin\n");
        return 1;
    }
    if (!load("data/exponent.bin", h_exponent)) {
        fprintf(stderr, "cannot read data/exponent.bin\n");
        return 1;
    }

    int *d_permutation, *d_exponent, *d_power;
    cuda_check(cudaMalloc(&d_permutation, elements * sizeof(int)), "malloc d_permutation");
    cuda_check(cudaMalloc(&d_exponent, ROWS * sizeof(int)), "malloc d_exponent");
    cuda_check(cudaMalloc(&d_power, elements * sizeof(int)), "malloc d_power");
    cuda_check(cudaMemcpy(d_permutation, h_permutation.data(), elements * sizeof(int),
            cudaMemcpyHostToDevice), "copy d_permutation");
    cuda_check(cudaMemcpy(d_exponent, h_exponent.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice),
            "copy d_exponent");

    power_by_squaring<<<ROWS, THREADS>>>(d_permutation, d_exponent, d_power);
    cuda_check(cudaGetLastError(), "launch");
    cuda_check(cudaMemcpy(h_power.data(), d_power, elements * sizeof(int), cudaMemcpyDeviceToHost),
            "copy h_power");

    if (!save("data/power.bin", h_power)) return 1;
    cudaFree(d_permutation);
    cudaFree(d_exponent);
    cudaFree(d_power);
    return 0;
}
