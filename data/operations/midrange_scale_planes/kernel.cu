#include <cfloat>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot load " << path << "\n";
        std::exit(1);
    }
    return v;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kPlanes = 6;
constexpr int kHeight = 60;
constexpr int kWidth = 80;

constexpr int kPixels = kHeight * kWidth;
constexpr int kParts = 16;

// Stage 1: each plane is cut into kParts pieces, one block finds the extremes of one piece.
__global__ void piece_extremes(const float* image, float* lows, float* highs) {
    __shared__ float wlo[8], whi[8];
    const float* src = image + (size_t)blockIdx.y * kPixels;
    float lo = FLT_MAX, hi = -FLT_MAX;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kPixels; i += kParts * blockDim.x) {
        float v = src[i];
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
    }
    for (int s = 16; s > 0; s >>= 1) {
        lo = fminf(lo, __shfl_down_sync(0xffffffffu, lo, s));
        hi = fmaxf(hi, __shfl_down_sync(0xffffffffu, hi, s));
    }
    if (threadIdx.x % 32 == 0) {
        wlo[threadIdx.x / 32] = lo;
        whi[threadIdx.x / 32] = hi;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) {
            lo = fminf(lo, wlo[w]);
            hi = fmaxf(hi, whi[w]);
        }
        lows[blockIdx.y * kParts + blockIdx.x] = lo;
        highs[blockIdx.y * kParts + blockIdx.x] = hi;
    }
}

__global__ void apply_scale(const float* image, const float* lows, const float* highs, float* scaled) {
    float lo = FLT_MAX, hi = -FLT_MAX;
    for (int p = 0; p < kParts; ++p) {
        lo = fminf(lo, lows[blockIdx.y * kParts + p]);
        hi = fmaxf(hi, highs[blockIdx.y * kParts + p]);
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kPixels) return;
    size_t at = (size_t)blockIdx.y * kPixels + i;
    float center = 0.5f * (lo + hi), radius = 0.5f * (hi - lo);
    scaled[at] = radius > 0.0f ? (image[at] - center) / radius : 0.0f;
}

int main() {
    constexpr size_t total = size_t(kPlanes) * kHeight * kWidth;
    const auto image = load_vector<float>("data/image.bin", total);
    std::vector<float> scaled(total);

    float* d_image = nullptr;
    float* d_scaled = nullptr;
    float* d_lows = nullptr;
    float* d_highs = nullptr;
    cudaMalloc(&d_image, total * sizeof(float));
    cudaMalloc(&d_scaled, total * sizeof(float));
    cudaMalloc(&d_lows, kPlanes * kParts * sizeof(float));
    cudaMalloc(&d_highs, kPlanes * kParts * sizeof(float));
    cudaMemcpy(d_image, image.data(), image.size() * sizeof(float), cudaMemcpyHostToDevice);

    dim3 pieces(kParts, kPlanes);
    piece_extremes<<<pieces, 256>>>(d_image, d_lows, d_highs);
    dim3 grid((kPixels + 256 - 1) / 256, kPlanes);
    apply_scale<<<grid, 256>>>(d_image, d_lows, d_highs, d_scaled);
    if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(scaled.data(), d_scaled, scaled.size() * sizeof(float), cudaMemcpyDeviceToHost);
    store_vector("data/scaled.bin", scaled);
    cudaFree(d_image);
    cudaFree(d_scaled);
    cudaFree(d_lows);
    cudaFree(d_highs);
    return 0;
}
