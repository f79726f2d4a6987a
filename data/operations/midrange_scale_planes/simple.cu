#include <cfloat>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int kPlanes = 6;
static const int kHeight = 60;
static const int kWidth = 80;

#define PIXELS (kHeight * kWidth)

__global__ void scale_plane(const float* image, float* scaled) {
    __shared__ float low[256], high[256];
    const float* src = image + (size_t)blockIdx.x * PIXELS;
    float* dst = scaled + (size_t)blockIdx.x * PIXELS;
    int t = threadIdx.x;
    float lo = FLT_MAX, hi = -FLT_MAX;
    for (int i = t; i < PIXELS; i += 256) {
        lo = fminf(lo, src[i]);
        hi = fmaxf(hi, src[i]);
    }
    low[t] = lo;
    high[t] = hi;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) {
            low[t] = fminf(low[t], low[t + s]);
            high[t] = fmaxf(high[t], high[t + s]);
        }
        __syncthreads();
    }
    float center = 0.5f * (low[0] + high[0]);
    float radius = 0.5f * (high[0] - low[0]);
    for (int i = t; i < PIXELS; i += 256) dst[i] = radius > 0.0f ? (src[i] - center) / radius : 0.0f;
}

int main() {
    const int elements = kPlanes * kHeight * kWidth;
    std::vector<float> h_image(elements), h_scaled(elements);
    std::ifstream in_image("data/image.bin", std::ios::binary);
    in_image.read(reinterpret_cast<char*>(h_image.data()), elements * sizeof(float));
    if (!in_image) {
        std::cerr << "missing or short file data/image.bin" << std::endl;
        return 1;
    }

    float *d_image, *d_scaled;
    cudaMalloc(&d_image, elements * sizeof(float));
    cudaMalloc(&d_scaled, elements * sizeof(float));
    cudaMemcpy(d_image, h_image.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    scale_plane<<<kPlanes, 256>>>(d_image, d_scaled);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_scaled.data(), d_scaled, elements * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_scaled("data/scaled.bin", std::ios::binary);
    out_scaled.write(reinterpret_cast<char*>(h_scaled.data()), elements * sizeof(float));

    cudaFree(d_image);
    cudaFree(d_scaled);
    return 0;
}
