#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int N = 3000;

__global__ void factorize(const int* numbers, int* smallest, int* factor_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int rest = numbers[i];
    int first = 0, count = 0;
    for (int p = 2; p * p <= rest; ++p) {
        while (rest % p == 0) {
            if (first == 0) first = p;
            rest /= p;
            ++count;
        }
    }
    if (rest > 1) {
        if (first == 0) first = rest;
        ++count;
    }
    smallest[i] = first == 0 ? 1 : first;
    factor_count[i] = count;
}

int main() {
    std::vector<int> numbers(N);
    std::vector<int> smallest(N);
    std::vector<int> factor_count(N);
    FILE* f_numbers = fopen("data/numbers.bin", "rb");
    if (!f_numbers || !fread(numbers.data(), N * sizeof(int), 1, f_numbers)) return 1;
    fclose(f_numbers);
    int* d_numbers; cudaMalloc(&d_numbers, N * sizeof(int));
    int* d_smallest; cudaMalloc(&d_smallest, N * sizeof(int));
    int* d_factor_count; cudaMalloc(&d_factor_count, N * sizeof(int));
    cudaMemcpy(d_numbers, numbers.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    factorize<<<(N + 256 - 1) / 256, 256>>>(d_numbers, d_smallest, d_factor_count);
    cudaMemcpy(smallest.data(), d_smallest, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(factor_count.data(), d_factor_count, N * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* o_smallest = fopen("data/smallest.bin", "wb");
    fwrite(smallest.data(), sizeof(int), N, o_smallest);
    fclose(o_smallest);
    FILE* o_factor_count = fopen("data/factor_count.bin", "wb");
    fwrite(factor_count.data(), sizeof(int), N, o_factor_count);
    fclose(o_factor_count);
    return 0;
}
