#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t n) {
    std::vector<T> data(n);
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(data.data()), n * sizeof(T));
    if (!stream) {
        std::cerr << "could not read " << path << '\n';
        std::exit(1);
    }
    return data;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kRows = 400;
constexpr int kClasses = 40;

__global__ void score_rows(const float* probs, const int* labels, float* brier, float* spherical, int rows,
        int classes) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* p = probs + (size_t)row * classes;
    int y = labels[row];
    float squares = 0.0f, error = 0.0f;
    for (int k = 0; k < classes; k++) {
        float d = k == y ? p[k] - 1.0f : p[k];
        squares += p[k] * p[k];
        error += d * d;
    }
    brier[row] = error;
    spherical[row] = p[y] / sqrtf(squares);
}

int main() {
    const auto h_probs = load_file<float>("data/probs.bin", kRows * kClasses);
    const auto h_labels = load_file<int>("data/labels.bin", kRows);
    std::vector<float> h_brier(kRows), h_spherical(kRows);

    float* d_probs;
    cudaMalloc(&d_probs, kRows * kClasses * sizeof(float));
    int* d_labels;
    cudaMalloc(&d_labels, kRows * sizeof(int));
    float* d_brier;
    cudaMalloc(&d_brier, kRows * sizeof(float));
    float* d_spherical;
    cudaMalloc(&d_spherical, kRows * sizeof(float));
    cudaMemcpy(d_probs, h_probs.data(), kRows * kClasses * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, h_labels.data(), kRows * sizeof(int), cudaMemcpyHostToDevice);

    score_rows<<<(kRows + 127) / 128, 128>>>(d_probs, d_labels, d_brier, d_spherical, kRows, kClasses);

    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_brier.data(), d_brier, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_spherical.data(), d_spherical, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/brier.bin", h_brier);
    store_file("data/spherical.bin", h_spherical);

    cudaFree(d_probs);
    cudaFree(d_labels);
    cudaFree(d_brier);
    cudaFree(d_spherical);
    return 0;
}
