#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// Euclid's algorithm with remainders and the law of quadratic reciprocity.
__global__ void jacobi(const int64_t* a, const uint64_t* m, int8_t* symbol, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint64_t bottom = m[i];
    uint64_t top = (a[i] < 0 ? 0 - static_cast<uint64_t>(a[i]) : static_cast<uint64_t>(a[i])) % bottom;
    if (a[i] < 0 && top > 0) top = bottom - top;
    int sign = 1;
    while (top != 0) {
        while (top % 2 == 0) {
            top /= 2;
            if (bottom % 8 == 3 || bottom % 8 == 5) sign = -sign;
        }
        if (top % 4 == 3 && bottom % 4 == 3) sign = -sign;
        uint64_t rest = bottom % top;
        bottom = top;
        top = rest;
    }
    symbol[i] = static_cast<int8_t>(bottom == 1 ? sign : 0);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> read(const std::string& path, int count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), sizeof(T) * count);
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong length");
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    try {
        int n = read<int>("data/sizes.bin", 1)[0];
        if (n < 1 || n > 4194304) throw std::runtime_error("data/sizes.bin: out of range");
        auto a = read<int64_t>("data/a.bin", n);
        auto m = read<uint64_t>("data/m.bin", n);
        for (uint64_t modulus : m)
            if (modulus % 2 == 0) throw std::runtime_error("data/m.bin: an even number");
        std::vector<int8_t> symbol(n);
        int64_t* dA = upload(a);
        uint64_t* dM = upload(m);
        int8_t* dSymbol = upload(symbol);
        jacobi<<<(n + 255) / 256, 256>>>(dA, dM, dSymbol, n);
        check(cudaGetLastError());
        check(cudaMemcpy(symbol.data(), dSymbol, n, cudaMemcpyDeviceToHost));
        std::ofstream out("data/symbol.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(symbol.data()), n);
        out.close();
        if (!out) throw std::runtime_error("data/symbol.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
