#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kCount = 1111;

__device__ float det3(float a, float b, float c, float d, float e, float f, float g, float h, float k) {
    return a * (e * k - f * h) - b * (d * k - f * g) + c * (d * h - e * g);
}

__global__ void det4(const float* a, float* det) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kCount) return;
    const float* m = a + 16 * i;
    float sum = m[0] * det3(m[5], m[6], m[7], m[9], m[10], m[11], m[13], m[14], m[15]);
    sum -= m[1] * det3(m[4], m[6], m[7], m[8], m[10], m[11], m[12], m[14], m[15]);
    sum += m[2] * det3(m[4], m[5], m[7], m[8], m[9], m[11], m[12], m[13], m[15]);
    sum -= m[3] * det3(m[4], m[5], m[6], m[8], m[9], m[10], m[12], m[13], m[14]);
    det[i] = sum;
}

int main() {
    auto a = load_file<float>("data/a.bin", kCount * 4 * 4);
    std::vector<float> det(kCount);

    float* d_a = nullptr;
    float* d_det = nullptr;
    cudaMalloc(&d_a, sizeof(float) * kCount * 4 * 4);
    cudaMalloc(&d_det, kCount * sizeof(float));
    cudaMemcpy(d_a, a.data(), sizeof(float) * kCount * 4 * 4, cudaMemcpyHostToDevice);

    constexpr int block = 256;
    det4<<<(kCount + block - 1) / block, block>>>(d_a, d_det);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(det.data(), d_det, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/det.bin", det);
    cudaFree(d_a);
    cudaFree(d_det);
    return 0;
}
