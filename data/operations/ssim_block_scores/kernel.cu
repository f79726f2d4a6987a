#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_binary(const char* name, float* data, size_t count) {
    FILE* f = fopen(name, "rb");
    size_t got = f ? fread(data, sizeof(float), count, f) : 0;
    if (got != count) {
        fprintf(stderr, "%s: short read\n", name);
        exit(1);
    }
    fclose(f);
}

void store_binary(const char* name, const float* data, size_t count) {
    FILE* f = fopen(name, "wb");
    if (!f || fwrite(data, sizeof(float), count, f) != count) {
        fprintf(stderr, "%s: write failed\n", name);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kBlockRows = 10;
constexpr int kBlockCols = 17;

__device__ float warp_total(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

// One warp a block of pixels; a lane holds two neighbouring columns of one row.
__global__ void ssim_warps(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ score) {
    const int number = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (number >= kBlockRows * kBlockCols) return;
    const int lane = threadIdx.x % 32;
    const int row = number / kBlockCols * 8 + lane / 4;
    const int col = number % kBlockCols * 8 + lane % 4 * 2;
    const size_t at = (size_t)row * (kBlockCols * 8) + col;
    const float2 p = *reinterpret_cast<const float2*>(a + at);
    const float2 q = *reinterpret_cast<const float2*>(b + at);
    const float ma = warp_total(p.x + p.y) / 64.0f;
    const float mb = warp_total(q.x + q.y) / 64.0f;
    const float px = p.x - ma, py = p.y - ma, qx = q.x - mb, qy = q.y - mb;
    const float spread = warp_total(px * px + py * py + qx * qx + qy * qy) / 64.0f;
    const float cov = warp_total(px * qx + py * qy) / 64.0f;
    if (lane == 0) {
        const float light = (2.0f * ma * mb + 6.5025f) / (ma * ma + mb * mb + 6.5025f);
        score[number] = light * (2.0f * cov + 58.5225f) / (spread + 58.5225f);
    }
}

int main() {
    const int num_first = (kBlockRows * 8) * (kBlockCols * 8);
    const int num_score = kBlockRows * kBlockCols;

    float* h_first = new float[num_first];
    float* h_second = new float[num_first];
    float* h_score = new float[num_score];
    float* d_first = nullptr;
    float* d_second = nullptr;
    float* d_score = nullptr;
    cudaMalloc(&d_first, num_first * sizeof(float));
    cudaMalloc(&d_second, num_first * sizeof(float));
    cudaMalloc(&d_score, num_score * sizeof(float));

    load_binary("data/first.bin", h_first, num_first);
    load_binary("data/second.bin", h_second, num_first);
    cudaMemcpy(d_first, h_first, num_first * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second, num_first * sizeof(float), cudaMemcpyHostToDevice);

    const int windows = kBlockRows * kBlockCols;
    ssim_warps<<<(windows + 3) / 4, 128>>>(d_first, d_second, d_score);

    cudaMemcpy(h_score, d_score, num_score * sizeof(float), cudaMemcpyDeviceToHost);
    store_binary("data/score.bin", h_score, num_score);

    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_score);
    delete[] h_first;
    delete[] h_second;
    delete[] h_score;
    return 0;
}
