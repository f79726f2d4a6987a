#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kHeight = 48;
constexpr int kWidth = 64;

__global__ void kirsch(const uint8_t* gray, int* strength, uint8_t* direction) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    const int dy[8] = {-1, -1, 0, 1, 1, 1, 0, -1};
    const int dx[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    int n[8];
    for (int k = 0; k < 8; ++k) {
        int yy = min(max(y + dy[k], 0), kHeight - 1);
        int xx = min(max(x + dx[k], 0), kWidth - 1);
        n[k] = gray[yy * kWidth + xx];
    }
    int best = 0, where = -1;
    for (int d = 0; d < 8; ++d) {
        int response = 0;
        for (int k = 0; k < 8; ++k) {
            bool near = k == d || k == (d + 1) % 8 || k == (d + 7) % 8;
            response += (near ? 5 : -3) * n[k];
        }
        if (where < 0 || response > best) {
            best = response;
            where = d;
        }
    }
    strength[y * kWidth + x] = best;
    direction[y * kWidth + x] = (uint8_t)where;
}

int main() {
    const size_t count = kHeight * kWidth;
    auto gray = load<uint8_t>("data/gray.bin", count);
    std::vector<int> strength(count);
    std::vector<uint8_t> direction(count);

    uint8_t *d_gray, *d_direction;
    int *d_strength;
    cudaMalloc(&d_gray, gray.size() * sizeof(uint8_t));
    cudaMalloc(&d_strength, strength.size() * sizeof(int));
    cudaMalloc(&d_direction, direction.size() * sizeof(uint8_t));
    cudaMemcpy(d_gray, gray.data(), gray.size() * sizeof(uint8_t), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kWidth + 32 - 1) / 32, (kHeight + 8 - 1) / 8);
    kirsch<<<grid, block>>>(d_gray, d_strength, d_direction);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(strength.data(), d_strength, strength.size() * sizeof(int), cudaMemcpyDeviceToHost);
    store("data/strength.bin", strength);
    cudaMemcpy(direction.data(), d_direction, direction.size() * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    store("data/direction.bin", direction);
    cudaFree(d_gray);
    cudaFree(d_strength);
    cudaFree(d_direction);
    return 0;
}
