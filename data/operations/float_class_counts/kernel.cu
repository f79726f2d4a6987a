#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("short file: " + path);
    }
    return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int ROWS = 30;
constexpr int COLS = 800;
constexpr int BLOCK = 256;

// Compares the pattern without its sign with the borders of the classes; counts stay in registers until the end.
__global__ void classify_ranges(const unsigned int* __restrict__ bits, int* __restrict__ counts) {
    __shared__ int sums[BLOCK / 32][4];
    const unsigned int* row = bits + (size_t)blockIdx.x * COLS;
    int zero = 0, sub = 0, inf = 0, nan = 0;
    for (int c = threadIdx.x; c < COLS; c += BLOCK) {
        unsigned int m = row[c] & 0x7fffffffu;
        zero += m == 0u;
        sub += m > 0u && m < 0x00800000u;
        inf += m == 0x7f800000u;
        nan += m > 0x7f800000u;
    }
    for (int s = 16; s > 0; s >>= 1) {
        zero += __shfl_down_sync(0xffffffffu, zero, s);
        sub += __shfl_down_sync(0xffffffffu, sub, s);
        inf += __shfl_down_sync(0xffffffffu, inf, s);
        nan += __shfl_down_sync(0xffffffffu, nan, s);
    }
    if (threadIdx.x % 32 == 0) {
        int* mine = sums[threadIdx.x / 32];
        mine[0] = zero;
        mine[1] = sub;
        mine[2] = inf;
        mine[3] = nan;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int total[4] = {0, 0, 0, 0};
        for (int w = 0; w < BLOCK / 32; ++w) {
            for (int k = 0; k < 4; ++k) total[k] += sums[w][k];
        }
        int* out = counts + blockIdx.x * 5;
        out[0] = total[0];
        out[1] = total[1];
        out[2] = COLS - total[0] - total[1] - total[2] - total[3];
        out[3] = total[2];
        out[4] = total[3];
    }
}

int main() {
    constexpr size_t bitsSize = (size_t)ROWS * COLS;
    constexpr size_t countsCount = (size_t)ROWS * 5;
    const auto h_bits = load_file<unsigned int>("data/bits.bin", bitsSize);

    unsigned int* d_bits;
    int* d_counts;
    cudaMalloc(&d_bits, bitsSize * sizeof(unsigned int));
    cudaMalloc(&d_counts, countsCount * sizeof(int));
    cudaMemcpy(d_bits, h_bits.data(), bitsSize * sizeof(unsigned int), cudaMemcpyHostToDevice);

    classify_ranges<<<ROWS, BLOCK>>>(d_bits, d_counts);
    const auto status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    std::vector<int> h_counts(countsCount);
    cudaMemcpy(h_counts.data(), d_counts, countsCount * sizeof(int), cudaMemcpyDeviceToHost);
    store_file("data/counts.bin", h_counts);
    cudaFree(d_bits);
    cudaFree(d_counts);
    return 0;
}
