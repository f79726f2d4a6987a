#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("bad input file " + path);
    return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kKeys = 300;
constexpr int kGroups = 4;
const int TOTAL = kKeys * kGroups;
const int THREADS = 128;

// The block's input goes through shared memory; each thread stores its eight characters as one uint2.
__global__ void base32_tile(const unsigned char* __restrict__ raw, uint2* __restrict__ text) {
    __shared__ unsigned char piece[THREADS * 5];
    const size_t first = (size_t)blockIdx.x * THREADS;
    const int groups = min(THREADS, (int)(TOTAL - first));
    for (int i = threadIdx.x; i < groups * 5; i += THREADS) piece[i] = raw[first * 5 + i];
    __syncthreads();
    if (threadIdx.x >= groups) return;
    const unsigned char* b = piece + threadIdx.x * 5;
    const unsigned int high = b[0] << 12 | b[1] << 4 | b[2] >> 4;          // first 20 bits
    const unsigned int low = (b[2] & 15) << 16 | b[3] << 8 | b[4];         // last 20 bits
    unsigned int out[2] = {0u, 0u};
    for (int k = 0; k < 4; ++k) {
        const unsigned int p = high >> (15 - 5 * k) & 31, q = low >> (15 - 5 * k) & 31;
        out[0] |= (p < 26 ? p + 'A' : p + 24) << (8 * k);
        out[1] |= (q < 26 ? q + 'A' : q + 24) << (8 * k);
    }
    text[first + threadIdx.x] = make_uint2(out[0], out[1]);
}

int main() {
    constexpr size_t num_raw = kKeys * (kGroups * 5);
    constexpr size_t count_text = kKeys * (kGroups * 8);
    auto host_raw = from_file<unsigned char>("data/raw.bin", num_raw);
    std::vector<unsigned char> host_text(count_text);

    unsigned char* d_raw = nullptr;
    unsigned char* d_text = nullptr;
    cudaMalloc(&d_raw, host_raw.size() * sizeof(unsigned char));
    cudaMalloc(&d_text, host_text.size() * sizeof(unsigned char));
    cudaMemcpy(d_raw, host_raw.data(), host_raw.size() * sizeof(unsigned char), cudaMemcpyHostToDevice);

    base32_tile<<<(TOTAL + THREADS - 1) / THREADS, THREADS>>>(d_raw, (uint2*)d_text);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;

    cudaMemcpy(host_text.data(), d_text, host_text.size() * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    to_file("data/text.bin", host_text);
    cudaFree(d_raw);
    cudaFree(d_text);
    return 0;
}
