#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 5000;

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return host;
}

__device__ int2 take_apart(int value) {
    // The number splits into groups of three digits, which shortens the chain of divisions.
    unsigned int rest = value < 0 ? -value : value;
    int sum = 0, back = 0;
    while (rest > 0) {
        unsigned int next = rest / 1000u;
        unsigned int group = rest - 1000u * next;
        unsigned int a = group / 100u, b = group / 10u % 10u, c = group % 10u;
        sum += (int)(a + b + c);
        if (next > 0 || a > 0) back = back * 1000 + (int)(c * 100u + b * 10u + a);
        else if (b > 0) back = back * 100 + (int)(c * 10u + b);
        else back = back * 10 + (int)c;
        rest = next;
    }
    return make_int2(sum, value < 0 ? -back : back);
}

__global__ void digit_groups(const int* __restrict__ numbers, int* __restrict__ digit_sum,
                             int* __restrict__ backward) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += stride) {
        int2 both = take_apart(numbers[i]);
        digit_sum[i] = both.x;
        backward[i] = both.y;
    }
}

int main() try {
    std::vector<int> numbers = load<int>("data/numbers.bin", kN);
    DeviceBuffer<int> d_numbers(kN);
    DeviceBuffer<int> d_digit_sum(kN);
    DeviceBuffer<int> d_reversed(kN);
    cudaMemcpy(d_numbers.ptr, numbers.data(), kN * sizeof(int), cudaMemcpyHostToDevice);

    digit_groups<<<(kN + 1024 - 1) / 1024, 256>>>(d_numbers.ptr, d_digit_sum.ptr, d_reversed.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<int> digit_sum(kN);
    cudaMemcpy(digit_sum.data(), d_digit_sum.ptr, kN * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/digit_sum.bin", std::ios::binary)
        .write((const char*)digit_sum.data(), kN * sizeof(int));
    std::vector<int> reversed(kN);
    cudaMemcpy(reversed.data(), d_reversed.ptr, kN * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/reversed.bin", std::ios::binary)
        .write((const char*)reversed.data(), kN * sizeof(int));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
