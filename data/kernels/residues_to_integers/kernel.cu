#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int kMost = 16, kThreads = 128;

__constant__ uint32_t cModulus[kMost];
__constant__ uint32_t cInverse[kMost * kMost];  // [j * kMost + k]: of modulus j, modulo modulus k

template <int K>
__global__ void __launch_bounds__(kThreads) reconstruct(const uint32_t* __restrict__ residue, int count,
                                                        uint32_t* __restrict__ value) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    uint32_t digit[K], word[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const uint32_t m = cModulus[k];
        uint64_t v = residue[static_cast<size_t>(k) * count + i];
#pragma unroll
        for (int j = 0; j < k; ++j) {
            v += m - digit[j] % m;
            if (v >= m) v -= m;
            v = v * cInverse[j * kMost + k] % m;
        }
        digit[k] = static_cast<uint32_t>(v);
        word[k] = 0;
    }
#pragma unroll
    for (int k = K - 1; k >= 0; --k) {
        uint64_t carry = digit[k];
#pragma unroll
        for (int w = 0; w < K; ++w) {
            carry += static_cast<uint64_t>(word[w]) * cModulus[k];
            word[w] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
    }
#pragma unroll
    for (int w = 0; w < K; ++w) value[static_cast<size_t>(i) * K + w] = word[w];
}

using Launch = void (*)(const uint32_t*, int, uint32_t*);

template <int K>
void launch(const uint32_t* residue, int count, uint32_t* value) {
    reconstruct<K><<<(count + kThreads - 1) / kThreads, kThreads>>>(residue, count, value);
}

template <int... I>
Launch launchFor(int moduli, std::integer_sequence<int, I...>) {
    static const Launch table[] = {launch<I + 1>...};
    return table[moduli - 1];
}

// The inverse of a modulo m, or 0 if they have a common factor.
static uint32_t inverseOf(uint32_t a, uint32_t m) {
    int64_t r = m, next = a % m, x = 0, nextX = 1;
    while (next != 0) {
        const int64_t quotient = r / next;
        r = std::exchange(next, r - quotient * next);
        x = std::exchange(nextX, x - quotient * nextX);
    }
    if (r != 1) return 0;
    return static_cast<uint32_t>(x < 0 ? x + m : x);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": expected " + std::to_string(count) + " values");
    return values;
}

static void run() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int moduli = sizes[0], count = sizes[1];
    if (moduli < 1 || moduli > kMost || count < 1 || count > 1048576) throw std::runtime_error("sizes out of range");
    const size_t total = static_cast<size_t>(moduli) * count;
    const auto modulus = readFile<uint32_t>("data/modulus.bin", moduli);
    const auto residue = readFile<uint32_t>("data/residue.bin", total);
    uint32_t inverse[kMost * kMost] = {};
    for (int k = 0; k < moduli; ++k) {
        if (modulus[k] < 2) throw std::runtime_error("data/modulus.bin: a modulus below 2");
        for (int j = 0; j < k; ++j) {
            inverse[j * kMost + k] = inverseOf(modulus[j], modulus[k]);
            if (inverse[j * kMost + k] == 0) throw std::runtime_error("data/modulus.bin: a common factor");
        }
        for (int i = 0; i < count; ++i) {
            if (residue[static_cast<size_t>(k) * count + i] >= modulus[k])
                throw std::runtime_error("data/residue.bin: a residue is not below its modulus");
        }
    }

    uint32_t *dResidue = nullptr, *dValue = nullptr;
    check(cudaMemcpyToSymbol(cModulus, modulus.data(), moduli * sizeof(uint32_t)));
    check(cudaMemcpyToSymbol(cInverse, inverse, sizeof inverse));
    check(cudaMalloc(&dResidue, total * sizeof(uint32_t)));
    check(cudaMalloc(&dValue, total * sizeof(uint32_t)));
    check(cudaMemcpy(dResidue, residue.data(), total * sizeof(uint32_t), cudaMemcpyHostToDevice));
    launchFor(moduli, std::make_integer_sequence<int, kMost>())(dResidue, count, dValue);
    check(cudaGetLastError());
    std::vector<uint32_t> value(total);
    check(cudaMemcpy(value.data(), dValue, total * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    check(cudaFree(dResidue));
    check(cudaFree(dValue));

    std::ofstream out("data/value.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(value.data()), static_cast<std::streamsize>(total * sizeof(uint32_t)));
    out.close();
    if (!out) throw std::runtime_error("data/value.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
