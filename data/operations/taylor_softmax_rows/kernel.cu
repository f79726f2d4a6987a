#include <fstream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 300;
constexpr int kClasses = 100;

__device__ float taylor(float v) { return fmaf(v, fmaf(0.5f, v, 1.0f), 1.0f); }

__global__ void taylor_softmax_warps(const float* __restrict__ logits, float* __restrict__ probs) {
    int lane = threadIdx.x;
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= kRows) return;
    const float* in = logits + (size_t)row * kClasses;
    float* out = probs + (size_t)row * kClasses;
    float sum = 0.0f;
    for (int c = lane; c < kClasses; c += 32) sum += taylor(in[c]);
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    float inv = 1.0f / sum;
    for (int c = lane; c < kClasses; c += 32) out[c] = taylor(in[c]) * inv;
}

int main() {
    const size_t count = (size_t)kRows * kClasses;
    std::vector<float> host_logits(count), host_probs(count);
    std::ifstream in_logits("data/logits.bin", std::ios::binary);
    if (!in_logits.read((char*)host_logits.data(), count * sizeof(float))) return 1;
    float *d_logits, *d_probs;
    cudaMalloc(&d_logits, count * sizeof(float));
    cudaMalloc(&d_probs, count * sizeof(float));
    cudaMemcpy(d_logits, host_logits.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(32, 4);
    taylor_softmax_warps<<<(kRows + 4 - 1) / 4, block>>>(d_logits, d_probs);
    cudaMemcpy(host_probs.data(), d_probs, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/probs.bin", std::ios::binary).write((char*)host_probs.data(), count * sizeof(float));
    cudaFree(d_logits);
    cudaFree(d_probs);
}
