#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kN = 900;
constexpr int kEntries = 7000;

__global__ void row_discs(const int* row_start, const int* col, const float* value, float* disc,
        int* dominant) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    float center = 0.0f, radius = 0.0f;
    for (int k = row_start[i]; k < row_start[i + 1]; ++k) {
        if (col[k] == i) center += value[k];
        else radius += fabsf(value[k]);
    }
    disc[2 * i] = center;
    disc[2 * i + 1] = radius;
    dominant[i] = fabsf(center) > radius ? 1 : 0;
}

int main() {
    const auto h_row_start = from_file<int>("data/row_start.bin", kN + 1);
    const auto h_col = from_file<int>("data/col.bin", kEntries);
    const auto h_value = from_file<float>("data/value.bin", kEntries);

    int* d_row_start = nullptr;
    int* d_col = nullptr;
    float* d_value = nullptr;
    float* d_disc = nullptr;
    int* d_dominant = nullptr;
    cudaMalloc(&d_row_start, (kN + 1) * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start.data(), (kN + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_col, kEntries * sizeof(int));
    cudaMemcpy(d_col, h_col.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_value, kEntries * sizeof(float));
    cudaMemcpy(d_value, h_value.data(), kEntries * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_disc, kN * 2 * sizeof(float));
    cudaMalloc(&d_dominant, kN * sizeof(int));

    int threads_per_block = 128;
    row_discs<<<(kN + threads_per_block - 1) / threads_per_block, threads_per_block>>>(d_row_start, d_col,
            d_value, d_disc, d_dominant);

    std::vector<float> h_disc(kN * 2);
    std::vector<int> h_dominant(kN);
    cudaMemcpy(h_disc.data(), d_disc, kN * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_dominant.data(), d_dominant, kN * sizeof(int), cudaMemcpyDeviceToHost);
    to_file("data/disc.bin", h_disc);
    to_file("data/dominant.bin", h_dominant);

    cudaFree(d_row_start);
    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_disc);
    cudaFree(d_dominant);
    return 0;
}
