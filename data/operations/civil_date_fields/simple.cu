#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 4000;

template <typename T>
struct GpuArray {
    T* ptr = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return host;
}

__device__ bool is_leap(int y) {
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

__device__ int days_before_year(int y) {
    int p = y - 1;
    return 365 * p + p / 4 - p / 100 + p / 400;
}

__global__ void to_dates(const int* days, int* dates, int* weekday) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    int d = days[i] + 719162;
    int year = d / 366 + 1;
    while (days_before_year(year + 1) <= d) ++year;
    int rest = d - days_before_year(year);
    const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 0;
    while (true) {
        int length = lengths[month] + (month == 1 && is_leap(year) ? 1 : 0);
        if (rest < length) break;
        rest -= length;
        ++month;
    }
    dates[3 * i] = year;
    dates[3 * i + 1] = month + 1;
    dates[3 * i + 2] = rest + 1;
    weekday[i] = d % 7;
}

int main() try {
    const size_t count = (size_t)kN * 3;
    std::vector<int> days = read_input<int>("data/days.bin", kN);
    GpuArray<int> d_days(kN);
    GpuArray<int> d_dates(count);
    GpuArray<int> d_weekday(kN);
    cudaMemcpy(d_days.ptr, days.data(), kN * sizeof(int), cudaMemcpyHostToDevice);

    to_dates<<<(kN + 256 - 1) / 256, 256>>>(d_days.ptr, d_dates.ptr, d_weekday.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<int> dates(count);
    cudaMemcpy(dates.data(), d_dates.ptr, count * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/dates.bin", std::ios::binary)
        .write((const char*)dates.data(), count * sizeof(int));
    std::vector<int> weekday(kN);
    cudaMemcpy(weekday.data(), d_weekday.ptr, kN * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/weekday.bin", std::ios::binary)
        .write((const char*)weekday.data(), kN * sizeof(int));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
