#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("failed to read " + path);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kRows = 300;
constexpr int kCols = 65;
constexpr int kWarps = 8;

// One warp per row: the ballot tells how many of 32 bytes are set.
__global__ void row_flags_ballot(const unsigned char* __restrict__ mask, unsigned char* __restrict__ flags) {
    int r = blockIdx.x * kWarps + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= kRows) return;
    const unsigned char* row = mask + (size_t)r * kCols;
    int n = 0;
    for (int base = 0; base < kCols; base += 32) {
        int c = base + lane;
        bool on = c < kCols && row[c] != 0;
        n += __popc(__ballot_sync(0xffffffffu, on));
    }
    if (lane == 0) {
        flags[r] = (unsigned char)((n > 0) | (n == kCols) << 1 | (n == 1) << 2 | (n & 1) << 3);
    }
}

int main() {
    const auto mask = load<unsigned char>("data/mask.bin", kRows * kCols);

    unsigned char* dMask = nullptr;
    unsigned char* dFlags = nullptr;
    cudaMalloc(&dMask, kRows * kCols * sizeof(unsigned char));
    cudaMalloc(&dFlags, kRows * sizeof(unsigned char));
    cudaMemcpy(dMask, mask.data(), kRows * kCols * sizeof(unsigned char), cudaMemcpyHostToDevice);

    row_flags_ballot<<<(kRows + kWarps - 1) / kWarps, 32 * kWarps>>>(dMask, dFlags);
    const auto status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    std::vector<unsigned char> flags(kRows);
    cudaMemcpy(flags.data(), dFlags, kRows * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    store("data/flags.bin", flags);
    cudaFree(dMask);
    cudaFree(dFlags);
    return 0;
}
