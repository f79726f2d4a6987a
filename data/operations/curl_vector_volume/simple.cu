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
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) {
        std::cerr << "could not read " << path << '\n';
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

constexpr int kDepth = 12;
constexpr int kHeight = 20;
constexpr int kWidth = 33;

__global__ void curl3(const float* f, float* out) {
    const int plane = kHeight * kWidth;
    const int n = kDepth * plane;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i % kWidth, y = i / kWidth % kHeight, z = i / plane;
    float cx = 0.0f, cy = 0.0f, cz = 0.0f;
    if (x > 0 && y > 0 && z > 0 && x < kWidth - 1 && y < kHeight - 1 && z < kDepth - 1) {
        const float* fx = f + i;
        const float* fy = fx + n;
        const float* fz = fy + n;
        cx = 0.5f * (fz[kWidth] - fz[-kWidth] - fy[plane] + fy[-plane]);
        cy = 0.5f * (fx[plane] - fx[-plane] - fz[1] + fz[-1]);
        cz = 0.5f * (fy[1] - fy[-1] - fx[kWidth] + fx[-kWidth]);
    }
    out[i] = cx;
    out[n + i] = cy;
    out[2 * n + i] = cz;
}

int main() {
    constexpr int num = 3 * kDepth * kHeight * kWidth;
    const auto host_field = read_vector<float>("data/field.bin", num);
    std::vector<float> host_curl(num);

    float* d_field = nullptr;
    cudaMalloc(&d_field, num * sizeof(float));
    float* d_curl = nullptr;
    cudaMalloc(&d_curl, num * sizeof(float));
    cudaMemcpy(d_field, host_field.data(), num * sizeof(float), cudaMemcpyHostToDevice);

    const int cells = kDepth * kHeight * kWidth;
    curl3<<<(cells + 255) / 256, 256>>>(d_field, d_curl);
    auto status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(host_curl.data(), d_curl, num * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/curl.bin", host_curl);
    cudaFree(d_field);
    cudaFree(d_curl);
    return 0;
}
