#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__device__ uint32_t power(uint64_t base, uint32_t exponent, uint32_t prime) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = result * base % prime;
        base = base * base % prime;
    }
    return static_cast<uint32_t>(result);
}

// Both arrays are transposed: entry c of row r is at c * rows + r.
__global__ void invertRows(const uint32_t* x, uint32_t* inverse, int rows, int cols, uint32_t prime) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    uint64_t product = 1;
    for (int c = 0; c < cols; ++c) {
        const size_t at = static_cast<size_t>(c) * rows + r;
        inverse[at] = static_cast<uint32_t>(product);
        if (x[at]) product = product * x[at] % prime;
    }
    uint64_t rest = power(product, prime - 2, prime);  // the inverse of the product of the entries up to column c
    for (int c = cols - 1; c >= 0; --c) {
        const size_t at = static_cast<size_t>(c) * rows + r;
        if (x[at]) {
            inverse[at] = static_cast<uint32_t>(rest * inverse[at] % prime);
            rest = rest * x[at] % prime;
        } else {
            inverse[at] = 0;
        }
    }
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

static std::vector<uint32_t> transposed(const std::vector<uint32_t>& matrix, size_t rows, size_t cols) {
    std::vector<uint32_t> result(matrix.size());
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < cols; ++c) result[c * rows + r] = matrix[r * cols + c];
    }
    return result;
}

int main() {
    try {
        const std::vector<int> sizes = load<int>("data/sizes.bin", 2);
        const int rows = sizes[0], cols = sizes[1];
        require(rows >= 1 && rows <= 65536 && cols >= 1 && cols <= 1024, "data/sizes.bin: out of range");
        const uint32_t prime = load<uint32_t>("data/prime.bin", 1)[0];
        require(prime >= 3 && prime <= 2147483647u, "data/prime.bin: out of range");
        const std::vector<uint32_t> given = load<uint32_t>("data/x.bin", static_cast<size_t>(rows) * cols);
        for (uint32_t one : given) require(one < prime, "data/x.bin: an entry is not below the prime");

        const Buffer<uint32_t> x(transposed(given, rows, cols)), inverse(given.size());
        invertRows<<<(rows + 127) / 128, 128>>>(x.get(), inverse.get(), rows, cols, prime);
        ok(cudaGetLastError());
        std::vector<uint32_t> result(given.size());
        ok(cudaMemcpy(result.data(), inverse.get(), inverse.bytes(), cudaMemcpyDeviceToHost));
        Buffer<uint32_t>(transposed(result, cols, rows)).save("data/inverse.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
