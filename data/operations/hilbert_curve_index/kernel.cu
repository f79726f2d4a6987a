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

constexpr int kN = 5000;
constexpr int kOrder = 6;
constexpr int kQuads = (kN + 3) / 4;

__device__ uint32_t curve_position(uint32_t x, uint32_t y) {
    uint32_t d = 0;
#pragma unroll
    for (int b = kOrder - 1; b >= 0; --b) {
        uint32_t rx = (x >> b) & 1u, ry = (y >> b) & 1u;
        d = (d << 2) | ((3u * rx) ^ ry);
        // Complementing all bits is enough, as only the lower ones are read again.
        uint32_t flip = (rx & (ry ^ 1u)) ? 0xffffffffu : 0u;
        x ^= flip;
        y ^= flip;
        uint32_t swap = (ry ? 0u : 0xffffffffu) & (x ^ y);
        x ^= swap;
        y ^= swap;
    }
    return d;
}

__global__ void hilbert_quads(const int* __restrict__ xs, const int* __restrict__ ys, uint32_t* __restrict__ index) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= kQuads) return;
    if (4 * q + 3 < kN) {
        int4 x = reinterpret_cast<const int4*>(xs)[q];
        int4 y = reinterpret_cast<const int4*>(ys)[q];
        reinterpret_cast<uint4*>(index)[q] = make_uint4(curve_position(x.x, y.x), curve_position(x.y, y.y),
                                                        curve_position(x.z, y.z), curve_position(x.w, y.w));
    } else {
        for (int i = 4 * q; i < kN; ++i) index[i] = curve_position(xs[i], ys[i]);
    }
}

int main() {
    auto xs = load<int>("data/xs.bin", kN);
    auto ys = load<int>("data/ys.bin", kN);
    std::vector<uint32_t> index(kN);

    int *d_xs, *d_ys;
    uint32_t *d_index;
    cudaMalloc(&d_xs, xs.size() * sizeof(int));
    cudaMalloc(&d_ys, ys.size() * sizeof(int));
    cudaMalloc(&d_index, index.size() * sizeof(uint32_t));
    cudaMemcpy(d_xs, xs.data(), xs.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_ys, ys.data(), ys.size() * sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 128;
    hilbert_quads<<<(kQuads + threads - 1) / threads, threads>>>(d_xs, d_ys, d_index);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(index.data(), d_index, index.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    store("data/index.bin", index);
    cudaFree(d_xs);
    cudaFree(d_ys);
    cudaFree(d_index);
}
