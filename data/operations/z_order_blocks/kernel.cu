#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kPlanes = 2;
constexpr int kBlocksY = 4;
constexpr int kBlocksX = 7;
constexpr int kWidth = kBlocksX * 16;
constexpr int kTotal = kPlanes * kBlocksY * kBlocksX * 256;

inline void cuda_check(cudaError_t err, const char* where) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(err));
        exit(1);
    }
}

static bool load_bin(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return got == v.size();
}

bool store_bin(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return put == v.size();
}

// Gathers the even bits of an 8-bit number into the low four.
__device__ int even_bits(int v) {
    v &= 0x55;
    v = (v | (v >> 1)) & 0x33;
    return (v | (v >> 2)) & 0x0f;
}

// Two neighboring places are two neighboring pixels of a row, so pairs are moved together.
__global__ void gather_pairs(const float2* __restrict__ image, float2* __restrict__ swizzled) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kTotal / 2) return;
    const int place = (2 * i) & 255;
    const int block = i >> 7;
    const int bx = block % kBlocksX;
    const int rest = block / kBlocksX;
    const int x = bx * 16 + even_bits(place);
    const int y = rest * 16 + even_bits(place >> 1);
    swizzled[i] = image[(y * kWidth + x) / 2];
}

int main() {
    const size_t imageSize = (size_t)kPlanes * (kBlocksY * 16) * (kBlocksX * 16);
    const size_t swizzledSize = (size_t)kPlanes * (kBlocksY * kBlocksX) * 256;
    std::vector<float> image(imageSize);
    std::vector<float> swizzled(swizzledSize);
    if (!load_bin("data/image.bin", image)) {
        fprintf(stderr, "cannot read data/image.bin\n");
        return 1;
    }

    float* d_image = nullptr;
    cuda_check(cudaMalloc(&d_image, imageSize * sizeof(float)), "malloc d_image");
    cuda_check(cudaMemcpy(d_image, image.data(), imageSize * sizeof(float), cudaMemcpyHostToDevice),
            "copy d_image");
    float* d_swizzled = nullptr;
    cuda_check(cudaMalloc(&d_swizzled, swizzledSize * sizeof(float)), "malloc d_swizzled");

    gather_pairs<<<((kTotal / 2) + 255) / 256, 256>>>((const float2*)d_image, (float2*)d_swizzled);
    cuda_check(cudaGetLastError(), "launch");
    cuda_check(cudaDeviceSynchronize(), "kernel");
    cuda_check(cudaMemcpy(swizzled.data(), d_swizzled, swizzledSize * sizeof(float), cudaMemcpyDeviceToHost),
            "copy swizzled");

    if (!store_bin("data/swizzled.bin", swizzled)) return 1;
    cudaFree(d_image);
    cudaFree(d_swizzled);
    return 0;
}
