#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128, kLongest = 768, kLow = -1000000;

struct Scoring {
    int match, mismatch, opening, extension;
};

__global__ void align(const uint8_t* a, const uint8_t* b, int n, int m, Scoring scoring, int* score, int* end) {
    __shared__ int h[3][kLongest + 1], e[2][kLongest + 1], f[2][kLongest + 1];
    __shared__ unsigned long long keys[kThreads];
    const uint8_t* x = a + static_cast<size_t>(blockIdx.x) * n;
    const uint8_t* y = b + static_cast<size_t>(blockIdx.x) * m;
    unsigned long long best = 0;  // H, then 1023 - i, then 131071 - j
    for (int d = 0; d <= n + m; ++d) {
        int *now = h[d % 3], *e0 = e[d % 2], *f0 = f[d % 2];
        const int *before = h[(d + 2) % 3], *twice = h[(d + 1) % 3];
        const int *e1 = e[(d + 1) % 2], *f1 = f[(d + 1) % 2];
        for (int i = max(0, d - m) + threadIdx.x; i <= min(n, d); i += kThreads) {
            const int j = d - i;
            if (i == 0 || j == 0) {
                now[i] = 0;
                e0[i] = f0[i] = kLow;
                continue;
            }
            const int gapA = max(e1[i] - scoring.extension, before[i] - scoring.opening);
            const int gapB = max(f1[i - 1] - scoring.extension, before[i - 1] - scoring.opening);
            const int step = x[i - 1] == y[j - 1] ? scoring.match : -scoring.mismatch;
            const int here = max(max(0, twice[i - 1] + step), max(gapA, gapB));
            now[i] = here;
            e0[i] = gapA;
            f0[i] = gapB;
            const unsigned long long place = static_cast<unsigned long long>(1023 - i) << 17 | (131071 - j);
            const unsigned long long key = static_cast<unsigned long long>(here) << 32 | place;
            if (here > 0 && key > best) best = key;
        }
        __syncthreads();
    }
    keys[threadIdx.x] = best;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int t = 1; t < kThreads; ++t) best = keys[t] > best ? keys[t] : best;
    score[blockIdx.x] = static_cast<int>(best >> 32);
    end[2 * blockIdx.x] = best ? 1023 - static_cast<int>(best >> 17 & 1023) : 0;
    end[2 * blockIdx.x + 1] = best ? 131071 - static_cast<int>(best & 131071) : 0;
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

static void run() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 3), given = load<int>("data/scoring.bin", 4);
    const int pairs = sizes[0], n = sizes[1], m = sizes[2];
    require(pairs >= 1 && pairs <= 65535, "data/sizes.bin: pairs is out of range");
    require(n >= 1 && n <= kLongest && m >= 1 && m <= 65536, "data/sizes.bin: a length is out of range");
    for (int one : given) require(one >= 0 && one <= 100, "data/scoring.bin: out of range");
    require(given[3] <= given[2], "data/scoring.bin: extension is larger than opening");

    const Buffer<uint8_t> a(load<uint8_t>("data/a.bin", static_cast<size_t>(pairs) * n));
    const Buffer<uint8_t> b(load<uint8_t>("data/b.bin", static_cast<size_t>(pairs) * m));
    const Buffer<int> score(pairs), end(2 * static_cast<size_t>(pairs));
    const Scoring scoring{given[0], given[1], given[2], given[3]};
    align<<<pairs, kThreads>>>(a.get(), b.get(), n, m, scoring, score.get(), end.get());
    ok(cudaGetLastError());
    score.save("data/score.bin");
    end.save("data/end.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
