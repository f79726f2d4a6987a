#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__constant__ uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ uint32_t rotr(uint32_t x, int bits) { return __funnelshift_r(x, x, bits); }

// Byte k of the message with its padding to `padded` bytes.
__device__ uint32_t byteAt(const uint8_t* text, int length, int padded, int k) {
    if (k < length) return text[k];
    if (k == length) return 0x80;
    return k >= padded - 8 ? static_cast<uint32_t>(8ULL * length >> 8 * (padded - 1 - k)) & 255 : 0;
}

__global__ void sha256(const uint8_t* text, uint32_t* digest, int messages, int length) {
    const int message = blockIdx.x * blockDim.x + threadIdx.x;
    if (message >= messages) return;
    text += static_cast<size_t>(message) * length;
    const int padded = 64 * ((length + 8) / 64 + 1);
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int start = 0; start < padded; start += 64) {
        uint32_t w[16], v[8];
#pragma unroll
        for (int t = 0; t < 16; ++t) {
            w[t] = 0;
            for (int k = 0; k < 4; ++k) w[t] = w[t] << 8 | byteAt(text, length, padded, start + 4 * t + k);
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = state[k];
#pragma unroll
        for (int t = 0; t < 64; ++t) {
            if (t >= 16) {
                const uint32_t old = w[(t + 1) % 16], late = w[(t + 14) % 16];
                const uint32_t s0 = rotr(old, 7) ^ rotr(old, 18) ^ old >> 3;
                const uint32_t s1 = rotr(late, 17) ^ rotr(late, 19) ^ late >> 10;
                w[t % 16] += s0 + w[(t + 9) % 16] + s1;
            }
            const uint32_t sum1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
            const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
            const uint32_t first = v[7] + sum1 + choice + rounds[t] + w[t % 16];
            const uint32_t sum0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
            const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
#pragma unroll
            for (int k = 7; k > 0; --k) v[k] = v[k - 1];
            v[4] += first;
            v[0] = first + sum0 + majority;
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) state[k] += v[k];
    }
    for (int k = 0; k < 8; ++k) digest[8 * static_cast<size_t>(message) + k] = state[k];
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
        const std::vector<int> sizes = load<int>("data/sizes.bin", 2);
        const int messages = sizes[0], length = sizes[1];
        require(messages >= 1 && messages <= 4194304, "data/sizes.bin: messages is out of range");
        require(length >= 1 && length <= 4096, "data/sizes.bin: length is out of range");
        const Buffer<uint8_t> text(load<uint8_t>("data/text.bin", static_cast<size_t>(messages) * length));
        const Buffer<uint32_t> digest(8 * static_cast<size_t>(messages));
        sha256<<<(messages + 127) / 128, 128>>>(text.get(), digest.get(), messages, length);
        ok(cudaGetLastError());
        digest.save("data/digest.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
