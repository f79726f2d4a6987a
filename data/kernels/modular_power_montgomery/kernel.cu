#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

struct Montgomery {
    uint64_t m, negatedInverse;

    __device__ explicit Montgomery(uint64_t modulus) : m(modulus) {
        uint64_t inverse = m;  // right modulo 8
        for (int i = 0; i < 5; ++i) inverse *= 2 - m * inverse;
        negatedInverse = 0 - inverse;
    }
    // (high * 2^64 + low) / 2^64 modulo m, for high < m.
    __device__ uint64_t reduce(uint64_t high, uint64_t low) const {
        const uint64_t carried = __umul64hi(low * negatedInverse, m) + (low != 0);  // at most m
        const uint64_t sum = high + carried;
        return sum < high || sum >= m ? sum - m : sum;
    }
    __device__ uint64_t multiply(uint64_t a, uint64_t b) const { return reduce(__umul64hi(a, b), a * b); }
    __device__ uint64_t enter(uint64_t a) const {
        a %= m;
        for (int i = 0; i < 64; ++i) a = a >= m - a ? a - (m - a) : a + a;
        return a;
    }
    __device__ uint64_t one() const { return (0 - m) % m; }
    __device__ uint64_t leave(uint64_t a) const { return reduce(0, a); }
};

__global__ void powers(const uint64_t* base, const uint64_t* exponent, const uint64_t* modulus, uint64_t* power,
                       int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Montgomery ring(modulus[i]);
    const uint64_t b = ring.enter(base[i]), e = exponent[i];
    uint64_t result = ring.one();
    for (int bit = 63 - __clzll(static_cast<long long>(e)); bit >= 0; --bit) {
        result = ring.multiply(result, result);
        if (e >> bit & 1) result = ring.multiply(result, b);
    }
    power[i] = ring.leave(result);
}

static void require(bool condition, const std::string& message) {
    if (!condition) throw std::runtime_error(message);
}

static void ok(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(host.data()), static_cast<std::streamsize>(count * sizeof(T)));
    require(file && file.peek() == std::ifstream::traits_type::eof(), path + ": missing or of another length");
    return host;
}

// Device memory that frees itself.
template <typename T>
class Buffer {
public:
    explicit Buffer(size_t count) : count_(count) { ok(cudaMalloc(&data_, count * sizeof(T))); }
    explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
        ok(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data_); }
    T* get() const { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }
    void save(const std::string& path) const {
        std::vector<T> host(count_);
        ok(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(host.data()), static_cast<std::streamsize>(bytes()));
        file.close();
        require(!file.fail(), path + ": cannot be written");
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

int main() {
    try {
        const int n = load<int>("data/sizes.bin", 1)[0];
        require(n >= 1 && n <= 4194304, "data/sizes.bin: n is out of range");
        const std::vector<uint64_t> moduli = load<uint64_t>("data/modulus.bin", n);
        for (uint64_t m : moduli) require(m % 2 == 1 && m >= 3, "data/modulus.bin: a modulus is even or below 3");
        const Buffer<uint64_t> base(load<uint64_t>("data/base.bin", n));
        const Buffer<uint64_t> exponent(load<uint64_t>("data/exponent.bin", n)), modulus(moduli), power(n);
        powers<<<(n + 127) / 128, 128>>>(base.get(), exponent.get(), modulus.get(), power.get(), n);
        ok(cudaGetLastError());
        power.save("data/power.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
