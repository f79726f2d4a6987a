#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kChains = 200;
constexpr int kLength = 32;

__global__ void chain_product(const float* links, float* product) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kChains) return;
    const float* q = links + (size_t)c * kLength * 4;
    float w = q[0], x = q[1], y = q[2], z = q[3];
    for (int k = 1; k < kLength; ++k) {
        float qw = q[4 * k], qx = q[4 * k + 1], qy = q[4 * k + 2], qz = q[4 * k + 3];
        float nw = w * qw - x * qx - y * qy - z * qz;
        float nx = w * qx + x * qw + y * qz - z * qy;
        float ny = w * qy + y * qw + z * qx - x * qz;
        float nz = w * qz + z * qw + x * qy - y * qx;
        w = nw;
        x = nx;
        y = ny;
        z = nz;
    }
    float len = sqrtf(w * w + x * x + y * y + z * z);
    product[4 * c] = w / len;
    product[4 * c + 1] = x / len;
    product[4 * c + 2] = y / len;
    product[4 * c + 3] = z / len;
}

int main() {
    auto h_links = read_vector<float>("data/links.bin", kChains * kLength * 4);
    std::vector<float> h_product(kChains * 4);

    float* d_links;
    float* d_product;
    cudaMalloc(&d_links, kChains * kLength * 4 * sizeof(float));
    cudaMalloc(&d_product, kChains * 4 * sizeof(float));
    cudaMemcpy(d_links, h_links.data(), kChains * kLength * 4 * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 64;
    chain_product<<<(kChains + threads - 1) / threads, threads>>>(d_links, d_product);

    if (const auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(h_product.data(), d_product, kChains * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/product.bin", h_product);

    cudaFree(d_links);
    cudaFree(d_product);
}
