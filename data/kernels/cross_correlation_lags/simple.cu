#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void correlate(const int16_t* a, const int16_t* b, long long* out, int n, int reach) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e > 2 * reach) return;
    int lag = e - reach;
    long long sum = 0;
    for (int t = max(0, -lag); t < n && t + lag < n; ++t) sum += (int)a[t + lag] * b[t];
    out[e] = sum;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong length");
    return values;
}

int main() {
    try {
        auto sizes = load<int>("data/sizes.bin", 2);
        int n = sizes[0], reach = sizes[1];
        if (n < 1 || n > 4194304 || reach < 1 || reach > 2048) throw std::runtime_error("data/sizes.bin: range");
        auto a = load<int16_t>("data/a.bin", n), b = load<int16_t>("data/b.bin", n);
        std::vector<long long> result(2 * reach + 1);
        int16_t *da, *db;
        long long* dr;
        check(cudaMalloc(&da, n * sizeof(int16_t)));
        check(cudaMalloc(&db, n * sizeof(int16_t)));
        check(cudaMalloc(&dr, result.size() * sizeof(long long)));
        check(cudaMemcpy(da, a.data(), n * sizeof(int16_t), cudaMemcpyHostToDevice));
        check(cudaMemcpy(db, b.data(), n * sizeof(int16_t), cudaMemcpyHostToDevice));
        correlate<<<(result.size() + 31) / 32, 32>>>(da, db, dr, n, reach);
        check(cudaGetLastError());
        check(cudaMemcpy(result.data(), dr, result.size() * sizeof(long long), cudaMemcpyDeviceToHost));
        check(cudaFree(da));
        check(cudaFree(db));
        check(cudaFree(dr));
        std::ofstream out("data/correlation.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(long long));
        out.close();
        if (!out) throw std::runtime_error("data/correlation.bin: not written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
