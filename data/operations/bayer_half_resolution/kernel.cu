#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kHeight = 30;
constexpr int kWidth = 50;
constexpr int kCells = kHeight * kWidth;
constexpr int kBlock = 256;

static inline void check(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(1);
    }
}

static bool read_raw(const char* path, void* dst, size_t bytes) {
    FILE* f = std::fopen(path, "rb");
    if (!f) return false;
    size_t got = std::fread(dst, 1, bytes, f);
    std::fclose(f);
    return got == bytes;
}

static bool write_raw(const char* path, const void* src, size_t bytes) {
    FILE* f = std::fopen(path, "wb");
    if (!f) return false;
    size_t put = std::fwrite(src, 1, bytes, f);
    return std::fclose(f) == 0 && put == bytes;
}

// Each row of a cell is one aligned pair of values. Scales are formed once per thread.
__global__ void bin_cell_pairs(const ushort2* __restrict__ raw, const int* __restrict__ black,
                               const float* __restrict__ gain, float* __restrict__ rgb) {
    float level[4], scale[4];
    for (int k = 0; k < 4; ++k) {
        level[k] = (float)black[k];
        scale[k] = (k == 1 || k == 2 ? 0.5f * gain[1] : gain[k == 0 ? 0 : 2]) / (4095.0f - level[k]);
    }
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < kCells; i += gridDim.x * kBlock) {
        const int y = i / kWidth, x = i % kWidth;
        const ushort2 top = raw[(2 * y) * kWidth + x], bottom = raw[(2 * y + 1) * kWidth + x];
        const float r = fmaxf(top.x - level[0], 0.0f) * scale[0];
        const float g = fmaxf(top.y - level[1], 0.0f) * scale[1] + fmaxf(bottom.x - level[2], 0.0f) * scale[2];
        const float b = fmaxf(bottom.y - level[3], 0.0f) * scale[3];
        rgb[3 * i] = fminf(r, 1.0f);
        rgb[3 * i + 1] = fminf(g, 1.0f);
        rgb[3 * i + 2] = fminf(b, 1.0f);
    }
}

int main() {
    const size_t rawSize = (size_t)kHeight * 2 * kWidth * 2;
    const size_t rgbSize = kHeight * kWidth * 3;
    std::vector<uint16_t> raw(rawSize);
    std::vector<int> black(4);
    std::vector<float> gain(3);
    std::vector<float> rgb(rgbSize);
    if (!read_raw("data/raw.bin", raw.data(), rawSize * sizeof(uint16_t)) ||
        !read_raw("data/black.bin", black.data(), 4 * sizeof(int)) ||
        !read_raw("data/gain.bin", gain.data(), 3 * sizeof(float))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    uint16_t *d_raw = nullptr;
    int *d_black = nullptr;
    float *d_gain = nullptr, *d_rgb = nullptr;
    check(cudaMalloc(&d_raw, rawSize * sizeof(uint16_t)), "malloc raw");
    check(cudaMalloc(&d_black, 4 * sizeof(int)), "malloc black");
    check(cudaMalloc(&d_gain, 3 * sizeof(float)), "malloc gain");
    check(cudaMalloc(&d_rgb, rgbSize * sizeof(float)), "malloc rgb");
    check(cudaMemcpy(d_raw, raw.data(), rawSize * sizeof(uint16_t), cudaMemcpyHostToDevice),
          "copy raw");
    check(cudaMemcpy(d_black, black.data(), 4 * sizeof(int), cudaMemcpyHostToDevice),
          "copy black");
    check(cudaMemcpy(d_gain, gain.data(), 3 * sizeof(float), cudaMemcpyHostToDevice),
          "copy gain");

    int blocks = (kCells + kBlock - 1) / kBlock;
    if (blocks > 1200) blocks = 1200;
    bin_cell_pairs<<<blocks, kBlock>>>((const ushort2*)d_raw, d_black, d_gain, d_rgb);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(rgb.data(), d_rgb, rgbSize * sizeof(float), cudaMemcpyDeviceToHost),
          "copy rgb");

    cudaFree(d_raw);
    cudaFree(d_black);
    cudaFree(d_gain);
    cudaFree(d_rgb);
    return write_raw("data/rgb.bin", rgb.data(), rgbSize * sizeof(float)) ? 0 : 1;
}
