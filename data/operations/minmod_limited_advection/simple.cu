#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define LINES 30
#define CELLS 250
#define STEPS 6

__device__ float minmod(float a, float b) {
    if (a * b <= 0.0f) return 0.0f;
    return fabsf(a) < fabsf(b) ? a : b;
}

__global__ void advect(const float* q, const float* courant, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int line = blockIdx.y;
    if (i >= CELLS) return;
    const float* p = q + (size_t)line * CELLS;
    float c = courant[line];
    float m2 = p[(i + CELLS - 2) % CELLS], m1 = p[(i + CELLS - 1) % CELLS];
    float q0 = p[i], p1 = p[(i + 1) % CELLS];
    float here = q0 + 0.5f * (1.0f - c) * minmod(q0 - m1, p1 - q0);
    float before = m1 + 0.5f * (1.0f - c) * minmod(m1 - m2, q0 - m1);
    out[(size_t)line * CELLS + i] = q0 - c * (here - before);
}

int main() {
    const int n = LINES * CELLS;
    std::vector<float> h_profile(n), h_courant(LINES), h_moved(n);
    std::ifstream in0("data/profile.bin", std::ios::binary);
    if (!in0.read((char*)h_profile.data(), n * sizeof(float))) return 1;
    std::ifstream in1("data/courant.bin", std::ios::binary);
    if (!in1.read((char*)h_courant.data(), LINES * sizeof(float))) return 1;
    float *g_profile, *g_courant, *g_moved, *g_work;
    cudaMalloc(&g_profile, n * sizeof(float));
    cudaMalloc(&g_courant, LINES * sizeof(float));
    cudaMalloc(&g_moved, n * sizeof(float));
    cudaMalloc(&g_work, n * sizeof(float));
    cudaMemcpy(g_profile, h_profile.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(g_courant, h_courant.data(), LINES * sizeof(float), cudaMemcpyHostToDevice);
    dim3 grid((CELLS + 127) / 128, LINES);
    const float* from = g_profile;
    for (int s = 0; s < STEPS; s++) {
        float* to = (STEPS - s) % 2 ? g_moved : g_work;
        advect<<<grid, 128>>>(from, g_courant, to);
        from = to;
    }
    cudaMemcpy(h_moved.data(), g_moved, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/moved.bin", std::ios::binary).write((char*)h_moved.data(), n * sizeof(float));
    return 0;
}
