#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256, kLargestFactor = 4101, kPrimes = 565;  // 4101^2 > 16777216 + 32767

__constant__ int primes[kPrimes];

__global__ void sieve(const int* starts, int width, int* counts, int* smallest) {
    extern __shared__ unsigned char composite[];
    __shared__ int first;
    const int start = starts[blockIdx.x];
    for (int i = threadIdx.x; i < width; i += kThreads) composite[i] = 0;
    if (threadIdx.x == 0) first = INT_MAX;
    __syncthreads();
    for (int k = threadIdx.x; k < kPrimes; k += kThreads) {
        const int p = primes[k];
        const int multiple = max(p * p, (start + p - 1) / p * p);
        for (int i = multiple - start; i < width; i += p) composite[i] = 1;
    }
    __syncthreads();
    int count = 0;
    for (int base = 0; base < width; base += kThreads) {
        const int i = base + threadIdx.x;
        const bool isPrime = i < width && !composite[i] && start + i > 1;
        count += __syncthreads_count(isPrime);
        if (isPrime) atomicMin(&first, start + i);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = count;
        smallest[blockIdx.x] = count > 0 ? first : 0;
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

static std::vector<int> basePrimes() {
    std::vector<int> found;
    for (int n = 2; n <= kLargestFactor; ++n) {
        bool isPrime = true;
        for (int p : found) isPrime = isPrime && n % p != 0;
        if (isPrime) found.push_back(n);
    }
    return found;
}

int main() {
    try {
        const std::vector<int> sizes = load<int>("data/sizes.bin", 2);
        const int intervals = sizes[0], width = sizes[1];
        require(intervals >= 1 && intervals <= 65535, "data/sizes.bin: intervals is out of range");
        require(width >= 1 && width <= 32768, "data/sizes.bin: width is out of range");
        const std::vector<int> given = load<int>("data/starts.bin", intervals), base = basePrimes();
        for (int start : given) require(start >= 0 && start <= 16777216, "data/starts.bin: out of range");
        require(base.size() == kPrimes, "the table of primes has another size");
        ok(cudaMemcpyToSymbol(primes, base.data(), kPrimes * sizeof(int)));

        const Buffer<int> starts(given), counts(intervals), smallest(intervals);
        sieve<<<intervals, kThreads, width>>>(starts.get(), width, counts.get(), smallest.get());
        ok(cudaGetLastError());
        counts.save("data/counts.bin");
        smallest.save("data/smallest.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
