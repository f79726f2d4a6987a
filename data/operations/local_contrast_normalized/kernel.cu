#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_binary(const std::string& name, float* dst, size_t num) {
    std::ifstream file(name, std::ios::in | std::ios::binary);
    if (!file.read((char*)dst, num * sizeof(float))) {
        std::cerr << "Failed to read " << name << "\n";
        exit(EXIT_FAILURE);
    }
}

void store_binary(const std::string& name, const float* dst, size_t num) {
    std::ofstream file(name, std::ios::out | std::ios::binary);
    if (!file.write((const char*)dst, num * sizeof(float))) {
        std::cerr << "Failed to write " << name << "\n";
        exit(EXIT_FAILURE);
    }
}
//@given

constexpr int kBatch = 3;
constexpr int kHeight = 50;
constexpr int kWidth = 70;

#define TX 32
#define TY 8
#define R 3

// Separable sums: first along the rows of the tile, then along its columns.
__global__ void normalize_tile(const float* __restrict__ images, float* __restrict__ out) {
    __shared__ float pix[TY + 2 * R][TX + 2 * R];
    __shared__ float sum[TY + 2 * R][TX], squares[TY + 2 * R][TX];
    const size_t base = (size_t)blockIdx.z * kHeight * kWidth;
    const int bx = blockIdx.x * TX, by = blockIdx.y * TY;
    for (int ty = threadIdx.y; ty < TY + 2 * R; ty += TY)
        for (int tx = threadIdx.x; tx < TX + 2 * R; tx += TX) {
            int gx = bx + tx - R, gy = by + ty - R;
            bool in = gx >= 0 && gy >= 0 && gx < kWidth && gy < kHeight;
            pix[ty][tx] = in ? images[base + gy * kWidth + gx] : 0.0f;
        }
    __syncthreads();
    for (int ty = threadIdx.y; ty < TY + 2 * R; ty += TY) {
        float s = 0.0f, q = 0.0f;
        for (int k = 0; k <= 2 * R; ++k) {
            float v = pix[ty][threadIdx.x + k];
            s += v;
            q += v * v;
        }
        sum[ty][threadIdx.x] = s;
        squares[ty][threadIdx.x] = q;
    }
    __syncthreads();
    const int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    float s = 0.0f, q = 0.0f;
    for (int k = 0; k <= 2 * R; ++k) {
        s += sum[threadIdx.y + k][threadIdx.x];
        q += squares[threadIdx.y + k][threadIdx.x];
    }
    const int wide = min(x + R, kWidth - 1) - max(x - R, 0) + 1;
    const int high = min(y + R, kHeight - 1) - max(y - R, 0) + 1;
    const float inv = 1.0f / (wide * high), mean = s * inv;
    const float deviation = sqrtf(fmaxf(q * inv - mean * mean, 0.0f));
    out[base + y * kWidth + x] = (pix[threadIdx.y + R][threadIdx.x + R] - mean) / fmaxf(deviation, 0.05f);
}

int main() {
    const size_t total = kBatch * kHeight * kWidth;

    float* h_images = new float[total];
    float* h_normalized = new float[total];
    load_binary("data/images.bin", h_images, total);

    float* d_images = nullptr;
    float* d_normalized = nullptr;
    cudaMalloc(&d_images, total * sizeof(float));
    cudaMalloc(&d_normalized, total * sizeof(float));
    cudaMemcpy(d_images, h_images, total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(TX, TY);
    dim3 grid((kWidth + TX - 1) / TX, (kHeight + TY - 1) / TY, kBatch);
    normalize_tile<<<grid, block>>>(d_images, d_normalized);
    cudaDeviceSynchronize();

    cudaMemcpy(h_normalized, d_normalized, total * sizeof(float), cudaMemcpyDeviceToHost);
    store_binary("data/normalized.bin", h_normalized, total);

    delete[] h_images;
    delete[] h_normalized;
    cudaFree(d_images);
    cudaFree(d_normalized);
    return 0;
}
