#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) {
        std::cerr << "cannot read " << path << "\n";
        exit(1);
    }
    return values;
}

template <typename T>
void saveVector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int N = 6000;

__global__ void to_ecef(const float* lat, const float* lon, const float* height, float* ecef, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float degree = 0.017453292f;
        const float e2 = 0.00669438f;
        float phi = lat[i] * degree;
        float lambda = lon[i] * degree;
        float s = sinf(phi);
        float c = cosf(phi);
        float radius = 6378137.0f / sqrtf(1.0f - e2 * s * s);
        float h = height[i];
        ecef[3 * i] = (radius + h) * c * cosf(lambda);
        ecef[3 * i + 1] = (radius + h) * c * sinf(lambda);
        ecef[3 * i + 2] = (radius * (1.0f - e2) + h) * s;
    }
}

int main() {
    constexpr size_t ecef_count = N * 3;
    auto lat = loadVector<float>("data/lat.bin", N);
    auto lon = loadVector<float>("data/lon.bin", N);
    const auto height = loadVector<float>("data/height.bin", N);
    std::vector<float> ecef(ecef_count);

    float *d_lat = nullptr, *d_lon = nullptr, *d_height = nullptr, *d_ecef = nullptr;
    cudaMalloc(&d_lat, N * sizeof(float));
    cudaMalloc(&d_lon, N * sizeof(float));
    cudaMalloc(&d_height, N * sizeof(float));
    cudaMalloc(&d_ecef, ecef_count * sizeof(float));
    cudaMemcpy(d_lat, lat.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lon, lon.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_height, height.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    to_ecef<<<(N + 256 - 1) / 256, 256>>>(d_lat, d_lon, d_height, d_ecef, N);
    if (auto status = cudaDeviceSynchronize(); status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(ecef.data(), d_ecef, ecef_count * sizeof(float), cudaMemcpyDeviceToHost);
    saveVector("data/ecef.bin", ecef);

    cudaFree(d_lat);
    cudaFree(d_lon);
    cudaFree(d_height);
    cudaFree(d_ecef);
}
