#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int COUNT = 1200;

// Rows as float4; the elimination is written out.
__global__ void cholesky_rows(const float4* __restrict__ a, float4* __restrict__ l) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= COUNT) return;
    const float4* m = a + 4 * s;
    float4* out = l + 4 * s;
    float4 r0 = m[0], r1 = m[1], r2 = m[2], r3 = m[3];
    float inv = rsqrtf(r0.x);
    r0 = make_float4(r0.x * inv, 0.0f, 0.0f, 0.0f);
    r1.x *= inv;
    r2.x *= inv;
    r3.x *= inv;
    float d = r1.y - r1.x * r1.x;
    inv = rsqrtf(d);
    r1 = make_float4(r1.x, d * inv, 0.0f, 0.0f);
    r2.y = (r2.y - r2.x * r1.x) * inv;
    r3.y = (r3.y - r3.x * r1.x) * inv;
    d = r2.z - r2.x * r2.x - r2.y * r2.y;
    inv = rsqrtf(d);
    r2 = make_float4(r2.x, r2.y, d * inv, 0.0f);
    r3.z = (r3.z - r3.x * r2.x - r3.y * r2.y) * inv;
    r3.w = sqrtf(r3.w - r3.x * r3.x - r3.y * r3.y - r3.z * r3.z);
    out[0] = r0;
    out[1] = r1;
    out[2] = r2;
    out[3] = r3;
}

void compute(const float* dev_a, float* dev_l) {
    const int threads = 256;
    cholesky_rows<<<(COUNT + threads - 1) / threads, threads>>>((const float4*)dev_a, (float4*)dev_l);
}

int main() {
    const size_t a_count = (size_t)COUNT * 4 * 4;
    std::vector<float> h_a(a_count);
    std::vector<float> h_l(a_count);
    std::ifstream a_in("data/a.bin", std::ios::binary);
    if (!a_in.read(reinterpret_cast<char*>(h_a.data()), a_count * sizeof(float))) {
        std::cerr << "data/a.bin is missing or short\n";
        return 1;
    }

    float *dev_a, *dev_l;
    cudaMalloc(&dev_a, a_count * sizeof(float));
    cudaMalloc(&dev_l, a_count * sizeof(float));
    cudaMemcpy(dev_a, h_a.data(), a_count * sizeof(float), cudaMemcpyHostToDevice);
    compute(dev_a, dev_l);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }
    cudaMemcpy(h_l.data(), dev_l, a_count * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream l_out("data/l.bin", std::ios::binary);
    l_out.write(reinterpret_cast<const char*>(h_l.data()), a_count * sizeof(float));
    cudaFree(dev_a);
    cudaFree(dev_l);
    return 0;
}
