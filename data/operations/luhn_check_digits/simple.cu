#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVec(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void storeVec(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kRows = 1500;
constexpr int kLength = 16;

__global__ void luhn(const uint8_t* digits, uint8_t* valid, uint8_t* expected) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kRows) return;
    const uint8_t* row = digits + (size_t)r * kLength;
    int sum = 0;
    bool twice = true;
    for (int i = kLength - 2; i >= 0; --i) {
        int d = row[i];
        if (twice) {
            d *= 2;
            if (d > 9) d -= 9;
        }
        sum += d;
        twice = !twice;
    }
    int check = (10 - sum % 10) % 10;
    expected[r] = (uint8_t)check;
    valid[r] = check == row[kLength - 1] ? 1 : 0;
}

int main() {
    const size_t total = (size_t)kRows * kLength;
    auto digits = loadVec<uint8_t>("data/digits.bin", total);
    std::vector<uint8_t> valid(kRows);
    std::vector<uint8_t> expected(kRows);

    uint8_t *d_digits, *d_valid, *d_expected;
    cudaMalloc(&d_digits, digits.size() * sizeof(uint8_t));
    cudaMalloc(&d_valid, valid.size() * sizeof(uint8_t));
    cudaMalloc(&d_expected, expected.size() * sizeof(uint8_t));
    cudaMemcpy(d_digits, digits.data(), digits.size() * sizeof(uint8_t), cudaMemcpyHostToDevice);

    luhn<<<(kRows + 128 - 1) / 128, 128>>>(d_digits, d_valid, d_expected);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(valid.data(), d_valid, valid.size() * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    storeVec("data/valid.bin", valid);
    cudaMemcpy(expected.data(), d_expected, expected.size() * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    storeVec("data/expected.bin", expected);
    cudaFree(d_digits);
    cudaFree(d_valid);
    cudaFree(d_expected);
    return 0;
}
