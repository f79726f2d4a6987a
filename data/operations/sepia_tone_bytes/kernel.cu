#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kHeight = 50;
constexpr int kWidth = 90;
constexpr int kPixels = kHeight * kWidth;
constexpr int kGroups = (kPixels + 3) / 4;

static inline void must(cudaError_t e, const char* what) {
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

__device__ void tone_pixel(const uint8_t* in, int m, uint8_t* out) {
    const int r = in[0], g = in[1], b = in[2];
    const int sr = min(255, (402 * r + 787 * g + 194 * b + 512) >> 10);
    const int sg = min(255, (357 * r + 702 * g + 172 * b + 512) >> 10);
    const int sb = min(255, (279 * r + 547 * g + 134 * b + 512) >> 10);
    out[0] = (uint8_t)((255 * r + (sr - r) * m + 127) / 255);
    out[1] = (uint8_t)((255 * g + (sg - g) * m + 127) / 255);
    out[2] = (uint8_t)((255 * b + (sb - b) * m + 127) / 255);
}

// Four pixels are twelve bytes: three words to read and three to write.
__global__ void sepia_four(const uint8_t* __restrict__ photo, const uint8_t* __restrict__ mask,
                           uint8_t* __restrict__ toned) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= kGroups) return;
    if (4 * q + 3 < kPixels) {
        uint32_t words[3];
        for (int k = 0; k < 3; ++k) words[k] = ((const uint32_t*)photo)[3 * q + k];
        const uchar4 m = ((const uchar4*)mask)[q];
        uint8_t* p = (uint8_t*)words;
        tone_pixel(p, m.x, p);
        tone_pixel(p + 3, m.y, p + 3);
        tone_pixel(p + 6, m.z, p + 6);
        tone_pixel(p + 9, m.w, p + 9);
        for (int k = 0; k < 3; ++k) ((uint32_t*)toned)[3 * q + k] = words[k];
    } else {
        for (int i = 4 * q; i < kPixels; ++i) tone_pixel(photo + 3 * i, mask[i], toned + 3 * i);
    }
}

int main() {
    const size_t num_photo = kHeight * kWidth * 3;
    const size_t num_mask = (size_t)kHeight * kWidth;
    std::vector<uint8_t> photo(num_photo);
    std::vector<uint8_t> mask(num_mask);
    std::vector<uint8_t> toned(num_photo);
    if (!read_raw("data/photo.bin", photo.data(), num_photo * sizeof(uint8_t)) ||
        !read_raw("data/mask.bin", mask.data(), num_mask * sizeof(uint8_t))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    uint8_t *d_photo = nullptr, *d_mask = nullptr, *d_toned = nullptr;
    must(cudaMalloc(&d_photo, num_photo * sizeof(uint8_t)), "malloc photo");
    must(cudaMalloc(&d_mask, num_mask * sizeof(uint8_t)), "malloc mask");
    must(cudaMalloc(&d_toned, num_photo * sizeof(uint8_t)), "malloc toned");
    must(cudaMemcpy(d_photo, photo.data(), num_photo * sizeof(uint8_t), cudaMemcpyHostToDevice),
          "copy photo");
    must(cudaMemcpy(d_mask, mask.data(), num_mask * sizeof(uint8_t), cudaMemcpyHostToDevice),
          "copy mask");

    sepia_four<<<(kGroups + 128 - 1) / 128, 128>>>(d_photo, d_mask, d_toned);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(toned.data(), d_toned, num_photo * sizeof(uint8_t), cudaMemcpyDeviceToHost),
          "copy toned");

    cudaFree(d_photo);
    cudaFree(d_mask);
    cudaFree(d_toned);
    return write_raw("data/toned.bin", toned.data(), num_photo * sizeof(uint8_t)) ? 0 : 1;
}
