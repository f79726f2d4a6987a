#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int COUNT = 3000;

__global__ void invert_vec4(const float4* __restrict__ m, float4* __restrict__ inv, int* __restrict__ singular) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += stride) {
        const float4 v = m[i];
        const float det = v.x * v.w - v.y * v.z;
        if (fabsf(det) < 0.05f) {
            inv[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            singular[i] = 1;
        } else {
            const float r = 1.0f / det;
            inv[i] = make_float4(v.w * r, -v.y * r, -v.z * r, v.x * r);
            singular[i] = 0;
        }
    }
}

int main() {
    const size_t m_count = (size_t)COUNT * 2 * 2;
    std::vector<float> h_m(m_count);
    std::vector<float> h_inv(m_count);
    std::vector<int> h_singular(COUNT);
    FILE* f = fopen("data/m.bin", "rb");
    if (!f || fread(h_m.data(), sizeof(float), h_m.size(), f) != h_m.size()) return 1;
    fclose(f);
    float *d_m, *d_inv;
    int *d_singular;
    cudaMalloc(&d_m, m_count * sizeof(float));
    cudaMalloc(&d_inv, m_count * sizeof(float));
    cudaMalloc(&d_singular, COUNT * sizeof(int));
    cudaMemcpy(d_m, h_m.data(), m_count * sizeof(float), cudaMemcpyHostToDevice);
    const int wanted = (COUNT + 255) / 256;
    invert_vec4<<<wanted < 1024 ? wanted : 1024, 256>>>((const float4*)d_m, (float4*)d_inv, d_singular);
    cudaMemcpy(h_inv.data(), d_inv, m_count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_singular.data(), d_singular, COUNT * sizeof(int), cudaMemcpyDeviceToHost);
    f = fopen("data/inv.bin", "wb");
    fwrite(h_inv.data(), sizeof(float), h_inv.size(), f);
    fclose(f);
    f = fopen("data/singular.bin", "wb");
    fwrite(h_singular.data(), sizeof(int), h_singular.size(), f);
    fclose(f);
}
