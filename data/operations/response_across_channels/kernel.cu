#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define BATCH 2
#define CHANNELS 24
#define PIXELS 300

// A thread walks down the channels of one pixel and keeps the window of squares in registers.
__global__ void lrn_walk(const float* __restrict__ x, float* __restrict__ y) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= PIXELS) return;
    size_t base = (size_t)blockIdx.y * CHANNELS * PIXELS + p;
    float v0 = 0.0f, v1 = 0.0f, v2 = x[base], v3 = CHANNELS > 1 ? x[base + PIXELS] : 0.0f;
    for (int c = 0; c < CHANNELS; ++c) {
        float v4 = c + 2 < CHANNELS ? x[base + (size_t)(c + 2) * PIXELS] : 0.0f;
        float s = v0 * v0 + v1 * v1 + v2 * v2 + v3 * v3 + v4 * v4;
        float r = rsqrtf(fmaf(0.1f, s, 2.0f));
        y[base + (size_t)c * PIXELS] = v2 * r * sqrtf(r);
        v0 = v1;
        v1 = v2;
        v2 = v3;
        v3 = v4;
    }
}

int main() {
    const int elements = BATCH * CHANNELS * PIXELS;
    std::vector<float> h_x(elements), h_y(elements);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    if (!in_x.read((char*)h_x.data(), elements * sizeof(float))) return 1;
    float *d_x, *d_y;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMalloc(&d_y, elements * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    dim3 grid((PIXELS + 128 - 1) / 128, BATCH);
    lrn_walk<<<grid, 128>>>(d_x, d_y);
    cudaMemcpy(h_y.data(), d_y, elements * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/y.bin", std::ios::binary).write((char*)h_y.data(), elements * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
