#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)v.data(), count * sizeof(T))) {
        std::cerr << "bad input file: " << path << std::endl;
        std::exit(EXIT_FAILURE);
    }
    return v;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write((const char*)v.data(), v.size() * sizeof(T));
}
//@given

constexpr int kHeight = 60;
constexpr int kWidth = 97;
constexpr int kSweeps = 4;

const float OMEGA = 1.6f;

// Only the points of one colour get a thread: thread k of a row takes every second column.
__global__ void half_sweep(float* u, const float* __restrict__ f, int colour) {
    const int r = blockIdx.y + 1;
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = 2 * k + 1 + ((r + 1 + colour) & 1);
    if (c >= kWidth - 1) return;
    float* p = u + (size_t)r * kWidth + c;
    const float sum = p[-kWidth] + p[kWidth] + p[-1] + p[1];
    *p = (1.0f - OMEGA) * *p + 0.25f * OMEGA * (sum - f[(size_t)r * kWidth + c]);
}

int main() {
    constexpr auto elements = kHeight * kWidth;
    auto host_guess = from_file<float>("data/guess.bin", elements);
    auto host_source = from_file<float>("data/source.bin", elements);
    std::vector<float> host_solution(elements);

    float* guess_dev;
    cudaMalloc(&guess_dev, elements * sizeof(float));
    float* source_dev;
    cudaMalloc(&source_dev, elements * sizeof(float));
    float* solution_dev;
    cudaMalloc(&solution_dev, elements * sizeof(float));
    cudaMemcpy(guess_dev, host_guess.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(source_dev, host_source.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemcpy(solution_dev, guess_dev, sizeof(float) * kHeight * kWidth, cudaMemcpyDeviceToDevice);
    const int half = kWidth / 2;
    const dim3 grid((half + 127) / 128, kHeight - 2);
    for (int pass = 0; pass < 2 * kSweeps; ++pass) {
        half_sweep<<<grid, 128>>>(solution_dev, source_dev, pass % 2);
    }
    auto status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(host_solution.data(), solution_dev, elements * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/solution.bin", host_solution);
    cudaFree(guess_dev);
    cudaFree(source_dev);
    cudaFree(solution_dev);
    return 0;
}
