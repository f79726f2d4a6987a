#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kHeight = 60;
constexpr int kWidth = 80;
constexpr int kBlock = 128;

// A block handles an even row and the odd row under it, and writes both counts without atomics on global memory.
__global__ void deinterlace_two_rows(const uint8_t* __restrict__ current, const uint8_t* __restrict__ previous,
                                     uint8_t* __restrict__ frame, int* __restrict__ replaced) {
    __shared__ int count;
    const int y = 2 * blockIdx.x;
    const bool has_odd = y + 1 < kHeight, has_next = y + 2 < kHeight;
    const uint8_t* even = current + (size_t)y * kWidth;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int mine = 0;
    for (int x = threadIdx.x; x < kWidth; x += kBlock) {
        const int a = even[x];
        frame[(size_t)y * kWidth + x] = (uint8_t)a;
        if (has_odd) {
            int v = even[kWidth + x];
            const int change = v - previous[(size_t)(y + 1) * kWidth + x];
            if (change > 12 || change < -12) {
                v = has_next ? (a + even[2 * kWidth + x] + 1) >> 1 : a;
                ++mine;
            }
            frame[(size_t)(y + 1) * kWidth + x] = (uint8_t)v;
        }
    }
    if (mine > 0) atomicAdd(&count, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        replaced[y] = 0;
        if (has_odd) replaced[y + 1] = count;
    }
}

int main() {
    const size_t numel = kHeight * kWidth;
    auto current = read_vector<uint8_t>("data/current.bin", numel);
    auto previous = read_vector<uint8_t>("data/previous.bin", numel);
    std::vector<uint8_t> frame(numel);
    std::vector<int> replaced(kHeight);

    uint8_t *d_current, *d_previous, *d_frame;
    int *d_replaced;
    cudaMalloc(&d_current, current.size() * sizeof(uint8_t));
    cudaMalloc(&d_previous, previous.size() * sizeof(uint8_t));
    cudaMalloc(&d_frame, frame.size() * sizeof(uint8_t));
    cudaMalloc(&d_replaced, replaced.size() * sizeof(int));
    cudaMemcpy(d_current, current.data(), current.size() * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_previous, previous.data(), previous.size() * sizeof(uint8_t), cudaMemcpyHostToDevice);

    deinterlace_two_rows<<<(kHeight + 2 - 1) / 2, kBlock>>>(d_current, d_previous, d_frame, d_replaced);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(frame.data(), d_frame, frame.size() * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    write_vector("data/frame.bin", frame);
    cudaMemcpy(replaced.data(), d_replaced, replaced.size() * sizeof(int), cudaMemcpyDeviceToHost);
    write_vector("data/replaced.bin", replaced);
    cudaFree(d_current);
    cudaFree(d_previous);
    cudaFree(d_frame);
    cudaFree(d_replaced);
    return 0;
}
