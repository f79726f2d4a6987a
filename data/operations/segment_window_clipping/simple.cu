#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int N = 4000;

__global__ void clip(const float* segments, float* clipped, unsigned char* kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float* s = segments + 4 * i;
    float lower = 0.0f, upper = 1.0f;
    for (int k = 0; k < 2; ++k) {
        float d = s[k + 2] - s[k];
        float a = (-1.0f - s[k]) / d;
        float b = (1.0f - s[k]) / d;
        lower = fmaxf(lower, fminf(a, b));
        upper = fminf(upper, fmaxf(a, b));
    }
    bool keep = lower <= upper;
    kept[i] = keep;
    for (int k = 0; k < 2; ++k) {
        float d = s[k + 2] - s[k];
        clipped[4 * i + k] = keep ? s[k] + lower * d : 0.0f;
        clipped[4 * i + k + 2] = keep ? s[k] + upper * d : 0.0f;
    }
}

int main() {
    const auto h_segments = load<float>("data/segments.bin", N * 4);
    std::vector<float> h_clipped(N * 4);
    std::vector<unsigned char> h_kept(N);

    float* d_segments = nullptr;
    float* d_clipped = nullptr;
    unsigned char* d_kept = nullptr;
    cudaMalloc(&d_segments, sizeof(float) * N * 4);
    cudaMalloc(&d_clipped, sizeof(float) * N * 4);
    cudaMalloc(&d_kept, sizeof(unsigned char) * N);
    cudaMemcpy(d_segments, h_segments.data(), sizeof(float) * N * 4, cudaMemcpyHostToDevice);

    clip<<<(N + 256 - 1) / 256, 256>>>(d_segments, d_clipped, d_kept);

    if (const auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(h_clipped.data(), d_clipped, sizeof(float) * N * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kept.data(), d_kept, sizeof(unsigned char) * N, cudaMemcpyDeviceToHost);
    store("data/clipped.bin", h_clipped);
    store("data/kept.bin", h_kept);

    cudaFree(d_segments);
    cudaFree(d_clipped);
    cudaFree(d_kept);
    return 0;
}
