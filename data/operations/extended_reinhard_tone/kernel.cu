#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int FRAMES = 4;
const int PIXELS = 2000;

#define PER_BLOCK 4096

__device__ float luma_of(float r, float g, float b) {
    return fmaf(0.2126f, r, fmaf(0.7152f, g, 0.0722f * b));
}

// Luminances are not negative, so their bit patterns are ordered like integers.
__global__ void white_points(const float* hdr, int* white_bits) {
    const float* frame = hdr + (size_t)blockIdx.y * PIXELS * 3;
    const int end = min((int)(blockIdx.x + 1) * PER_BLOCK, PIXELS);
    float m = 0.0f;
    for (int i = blockIdx.x * PER_BLOCK + threadIdx.x; i < end; i += blockDim.x)
        m = fmaxf(m, luma_of(frame[3 * i], frame[3 * i + 1], frame[3 * i + 2]));
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, d));
    if (threadIdx.x % 32 == 0) atomicMax(&white_bits[blockIdx.y], __float_as_int(m));
}

__global__ void map_pixels(const float* hdr, const float* white, unsigned char* ldr) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PIXELS) return;
    const float* p = hdr + ((size_t)blockIdx.y * PIXELS + i) * 3;
    unsigned char* q = ldr + ((size_t)blockIdx.y * PIXELS + i) * 3;
    const float w = white[blockIdx.y], r = p[0], g = p[1], b = p[2];
    const float l = luma_of(r, g, b);
    const float k = (1.0f + l / (w * w)) / (1.0f + l);
    q[0] = (int)(255.0f * sqrtf(fminf(r * k, 1.0f)) + 0.5f);
    q[1] = (int)(255.0f * sqrtf(fminf(g * k, 1.0f)) + 0.5f);
    q[2] = (int)(255.0f * sqrtf(fminf(b * k, 1.0f)) + 0.5f);
}

int main() {
    const int size = FRAMES * PIXELS * 3;
    float* hdr = nullptr;
    cudaMallocManaged(&hdr, size * sizeof(float));
    unsigned char* ldr = nullptr;
    cudaMallocManaged(&ldr, size * sizeof(unsigned char));
    float* white = nullptr;
    cudaMallocManaged(&white, FRAMES * sizeof(float));

    std::ifstream file("data/hdr.bin", std::ios::binary);
    file.read((char*)hdr, size * sizeof(float));
    if (!file) {
        std::cerr << "missing or short: data/hdr.bin\n";
        return 1;
    }

    cudaMemset(white, 0, FRAMES * sizeof(float));
    dim3 reduce_grid((PIXELS + PER_BLOCK - 1) / PER_BLOCK, FRAMES), map_grid((PIXELS + 255) / 256, FRAMES);
    white_points<<<reduce_grid, 256>>>(hdr, reinterpret_cast<int*>(white));
    map_pixels<<<map_grid, 256>>>(hdr, white, ldr);
    cudaDeviceSynchronize();

    std::ofstream ldr_file("data/ldr.bin", std::ios::binary);
    ldr_file.write((char*)ldr, size * sizeof(unsigned char));

    std::ofstream white_file("data/white.bin", std::ios::binary);
    white_file.write((char*)white, FRAMES * sizeof(float));

    cudaFree(hdr);
    cudaFree(ldr);
    cudaFree(white);
    return 0;
}
