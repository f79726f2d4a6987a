#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kN = 1500;
constexpr int kDigits = 21;
constexpr int kBlock = 128;

// Adding 11...1 (21 ternary ones) makes the number non-negative; its usual digits are then one too large.
__global__ void ternary_by_offset(const int* __restrict__ numbers, int8_t* __restrict__ digits,
                                  int* __restrict__ nonzero) {
    __shared__ int8_t stage[kBlock * kDigits];
    const int first = blockIdx.x * kBlock;
    const int i = first + threadIdx.x;
    if (i < kN) {
        unsigned long long wide = (unsigned long long)((long long)numbers[i] + 5230176601LL);
        int used = 0;
        // The lowest digit is taken from the 64-bit value; all others fit in 32 bits.
        int d = (int)(wide % 3) - 1;
        uint32_t v = (uint32_t)(wide / 3);
        for (int k = 0; k < kDigits; ++k) {
            stage[threadIdx.x * kDigits + k] = (int8_t)d;
            used += d != 0;
            d = (int)(v % 3u) - 1;
            v /= 3u;
        }
        nonzero[i] = used;
    }
    __syncthreads();
    const int bytes = min(kBlock, kN - first) * kDigits;
    for (int k = threadIdx.x; k < bytes; k += kBlock) digits[(size_t)first * kDigits + k] = stage[k];
}

int main() {
    const size_t count = (size_t)kN * 21;
    auto numbers = load<int>("data/numbers.bin", kN);
    std::vector<int8_t> digits(count);
    std::vector<int> nonzero(kN);

    int *d_numbers, *d_nonzero;
    int8_t *d_digits;
    cudaMalloc(&d_numbers, numbers.size() * sizeof(int));
    cudaMalloc(&d_digits, digits.size() * sizeof(int8_t));
    cudaMalloc(&d_nonzero, nonzero.size() * sizeof(int));
    cudaMemcpy(d_numbers, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);

    ternary_by_offset<<<(kN + kBlock - 1) / kBlock, kBlock>>>(d_numbers, d_digits, d_nonzero);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(digits.data(), d_digits, digits.size() * sizeof(int8_t), cudaMemcpyDeviceToHost);
    store("data/digits.bin", digits);
    cudaMemcpy(nonzero.data(), d_nonzero, nonzero.size() * sizeof(int), cudaMemcpyDeviceToHost);
    store("data/nonzero.bin", nonzero);
    cudaFree(d_numbers);
    cudaFree(d_digits);
    cudaFree(d_nonzero);
    return 0;
}
