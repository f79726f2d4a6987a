#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 60
#define COLS 256
#define WARPS 4

// The map s -> a * s + b of 32 steps is composed by a warp scan, then applied to the carried state.
__global__ void recurrence_warp(const float* __restrict__ decay, const float* __restrict__ x,
    float* __restrict__ h) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    int lane = threadIdx.x % 32;
    size_t base = (size_t)r * COLS;
    float state = 0.0f;
    for (int start = 0; start < COLS; start += 32) {
        int c = start + lane;
        float a = c < COLS ? decay[base + c] : 1.0f;
        float b = c < COLS ? x[base + c] : 0.0f;
        for (int s = 1; s < 32; s <<= 1) {
            float a2 = __shfl_up_sync(0xffffffffu, a, s);
            float b2 = __shfl_up_sync(0xffffffffu, b, s);
            if (lane >= s) {
                b = fmaf(a, b2, b);
                a *= a2;
            }
        }
        float value = fmaf(a, state, b);
        if (c < COLS) h[base + c] = value;
        state = __shfl_sync(0xffffffffu, value, 31);
    }
}

int main() {
    const size_t elements = (size_t)ROWS * COLS;
    std::vector<float> decay(elements), x(elements), h(elements);
    std::ifstream f0("data/decay.bin", std::ios::binary);
    if (!f0.read((char*)decay.data(), elements * sizeof(float))) return 1;
    std::ifstream f1("data/x.bin", std::ios::binary);
    if (!f1.read((char*)x.data(), elements * sizeof(float))) return 1;
    float* dDecay;
    float* dX;
    float* dH;
    cudaMalloc(&dDecay, elements * sizeof(float));
    cudaMalloc(&dX, elements * sizeof(float));
    cudaMalloc(&dH, elements * sizeof(float));
    cudaMemcpy(dDecay, decay.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dX, x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    recurrence_warp<<<(ROWS + WARPS - 1) / WARPS, 32 * WARPS>>>(dDecay, dX, dH);
    cudaMemcpy(h.data(), dH, elements * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/h.bin", std::ios::binary).write((char*)h.data(), elements * sizeof(float));
    cudaFree(dDecay); cudaFree(dX); cudaFree(dH);
    return 0;
}
