#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int PLANES = 20;
constexpr int PIXELS = 600;
constexpr int STYLE_PIXELS = 450;

static inline void verify(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

static bool readFile(const char* path, void* dst, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) return false;
    bool ok = fread(dst, 1, bytes, file) == bytes;
    fclose(file);
    return ok;
}

static bool writeFile(const char* path, const void* src, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file) return false;
    bool ok = fwrite(src, 1, bytes, file) == bytes;
    fclose(file);
    return ok;
}

__device__ float2 block_total(float2 v) {
    __shared__ float2 warp_part[8];
    for (int s = 16; s > 0; s >>= 1) {
        v.x += __shfl_down_sync(0xffffffffu, v.x, s);
        v.y += __shfl_down_sync(0xffffffffu, v.y, s);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) warp_part[threadIdx.x / 32] = v;
    __syncthreads();
    float2 total = make_float2(0.0f, 0.0f);
    for (int w = 0; w < 8; ++w) {
        total.x += warp_part[w].x;
        total.y += warp_part[w].y;
    }
    return total;
}

// Everything for a plane in one block of 256 threads: both means, both deviations, then the blend.
__global__ void adain(const float* __restrict__ content, const float* __restrict__ style,
    float* __restrict__ mixed) {
    const float* c = content + (size_t)blockIdx.x * PIXELS;
    const float* s = style + (size_t)blockIdx.x * STYLE_PIXELS;
    float2 acc = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < PIXELS; i += 256) acc.x += c[i];
    for (int i = threadIdx.x; i < STYLE_PIXELS; i += 256) acc.y += s[i];
    float2 sums = block_total(acc);
    const float mc = sums.x / PIXELS, ms = sums.y / STYLE_PIXELS;
    acc = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < PIXELS; i += 256) acc.x += (c[i] - mc) * (c[i] - mc);
    for (int i = threadIdx.x; i < STYLE_PIXELS; i += 256) acc.y += (s[i] - ms) * (s[i] - ms);
    float2 sq = block_total(acc);
    const float ratio = sqrtf((sq.y / STYLE_PIXELS + 1e-5f) / (sq.x / PIXELS + 1e-5f));
    for (int i = threadIdx.x; i < PIXELS; i += 256)
        mixed[(size_t)blockIdx.x * PIXELS + i] = fmaf(ratio, c[i] - mc, ms);
}

int main() {
    const size_t content_size = PLANES * PIXELS;
    const size_t style_size = PLANES * STYLE_PIXELS;
    std::vector<float> h_content(content_size);
    std::vector<float> h_style(style_size);
    std::vector<float> h_mixed(content_size);
    if (!readFile("data/content.bin", h_content.data(), content_size * sizeof(float))) {
        fprintf(stderr, "cannot read content\n");
        return 1;
    }
    if (!readFile("data/style.bin", h_style.data(), style_size * sizeof(float))) {
        fprintf(stderr, "cannot read style\n");
        return 1;
    }

    float* d_content = nullptr;
    float* d_style = nullptr;
    float* d_mixed = nullptr;
    verify(cudaMalloc(&d_content, content_size * sizeof(float)), "malloc content");
    verify(cudaMalloc(&d_style, style_size * sizeof(float)), "alloc style");
    verify(cudaMalloc(&d_mixed, content_size * sizeof(float)), "cudaMalloc mixed");
    verify(cudaMemcpy(d_content, h_content.data(), content_size * sizeof(float), cudaMemcpyHostToDevice),
        "copy content");
    verify(cudaMemcpy(d_style, h_style.data(), style_size * sizeof(float), cudaMemcpyHostToDevice), "copy style");

    adain<<<PLANES, 256>>>(d_content, d_style, d_mixed);
    verify(cudaGetLastError(), "launch");
    verify(cudaDeviceSynchronize(), "kernel");
    verify(cudaMemcpy(h_mixed.data(), d_mixed, content_size * sizeof(float), cudaMemcpyDeviceToHost), "copy mixed");

    if (!writeFile("data/mixed.bin", h_mixed.data(), content_size * sizeof(float))) {
        fprintf(stderr, "cannot write mixed\n");
        return 1;
    }
    cudaFree(d_content);
    cudaFree(d_style);
    cudaFree(d_mixed);
    return 0;
}
