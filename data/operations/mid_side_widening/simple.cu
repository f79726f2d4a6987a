#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load_array(const std::string& path, T* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data), count * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
}

template <typename T>
void save_array(const std::string& path, const T* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
}
//@given

constexpr int kSegments = 50;
constexpr int kLength = 200;

__global__ void widen(const float* stereo, const float* width, float* widened, int* clipped) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kSegments * kLength) return;
    int seg = i / kLength;
    float left = stereo[2 * i];
    float right = stereo[2 * i + 1];
    float mid = 0.5f * (left + right);
    float side = 0.5f * (left - right) * width[seg];
    float l = mid + side;
    float r = mid - side;
    int count = (fabsf(l) > 1.0f) + (fabsf(r) > 1.0f);
    if (count > 0) atomicAdd(&clipped[seg], count);
    widened[2 * i] = fminf(fmaxf(l, -1.0f), 1.0f);
    widened[2 * i + 1] = fminf(fmaxf(r, -1.0f), 1.0f);
}

int main() {
    float* h_stereo = new float[kSegments * kLength * 2];
    float* h_width = new float[kSegments];
    float* h_widened = new float[kSegments * kLength * 2];
    int* h_clipped = new int[kSegments];
    load_array("data/stereo.bin", h_stereo, kSegments * kLength * 2);
    load_array("data/width.bin", h_width, kSegments);

    float* d_stereo = nullptr;
    float* d_width = nullptr;
    float* d_widened = nullptr;
    int* d_clipped = nullptr;
    cudaMalloc((void**)&d_stereo, kSegments * kLength * 2 * sizeof(float));
    cudaMalloc((void**)&d_width, kSegments * sizeof(float));
    cudaMalloc(&d_widened, kSegments * kLength * 2 * sizeof(float));
    cudaMalloc((void**)&d_clipped, kSegments * sizeof(int));
    cudaMemcpy(d_stereo, h_stereo, kSegments * kLength * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_width, h_width, kSegments * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemset(d_clipped, 0, kSegments * sizeof(int));
    widen<<<(kSegments * kLength + 255) / 256, 256>>>(d_stereo, d_width, d_widened, d_clipped);

    cudaMemcpy(h_widened, d_widened, kSegments * kLength * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_clipped, d_clipped, kSegments * sizeof(int), cudaMemcpyDeviceToHost);
    save_array("data/widened.bin", h_widened, kSegments * kLength * 2);
    save_array("data/clipped.bin", h_clipped, kSegments);

    cudaFree(d_stereo);
    cudaFree(d_width);
    cudaFree(d_widened);
    cudaFree(d_clipped);
    delete[] h_stereo;
    delete[] h_width;
    delete[] h_widened;
    delete[] h_clipped;
    return 0;
}
