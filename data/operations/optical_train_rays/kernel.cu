#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define RAYS 3000
#define LENSES 10
#define BLOCK 128

// The lenses lie in constant memory; a thread follows two rays that are read as one float4.
__constant__ float2 train[LENSES];

__device__ void through_lens(float2 lens, float& y, float& s, float& top) {
    y = fmaf(lens.x, s, y);
    s = fmaf(-lens.y, y, s);
    top = fmaxf(top, fabsf(y));
}

__global__ void trace_pairs(const float* __restrict__ ray, float* __restrict__ leaving,
        float* __restrict__ widest) {
    int i = 2 * (blockIdx.x * BLOCK + threadIdx.x);
    if (i + 1 < RAYS) {
        float4 r = *reinterpret_cast<const float4*>(ray + 2 * i);
        float top_a = 0.0f, top_b = 0.0f;
        for (int j = 0; j < LENSES; ++j) {
            through_lens(train[j], r.x, r.y, top_a);
            through_lens(train[j], r.z, r.w, top_b);
        }
        *reinterpret_cast<float4*>(leaving + 2 * i) = r;
        widest[i] = top_a;
        widest[i + 1] = top_b;
    } else if (i < RAYS) {
        float y = ray[2 * i], s = ray[2 * i + 1], top = 0.0f;
        for (int j = 0; j < LENSES; ++j) through_lens(train[j], y, s, top);
        leaving[2 * i] = y;
        leaving[2 * i + 1] = s;
        widest[i] = top;
    }
}

int main() {
    std::vector<float> h_ray(RAYS * 2);
    std::vector<float> h_lens(LENSES * 2);
    std::vector<float> h_leaving(RAYS * 2);
    std::vector<float> h_widest(RAYS);
    std::ifstream fin_ray("data/ray.bin", std::ios::binary);
    fin_ray.read(reinterpret_cast<char*>(h_ray.data()), RAYS * 2 * sizeof(float));
    if (!fin_ray) {
        std::cerr << "cannot read data/ray.bin" << std::endl;
        return 1;
    }
    std::ifstream fin_lens("data/lens.bin", std::ios::binary);
    if (!fin_lens.read((char*)h_lens.data(), LENSES * 2 * sizeof(float))) {
        std::cerr << "cannot read data/lens.bin\n";
        return 1;
    }

    float* d_ray = nullptr;
    float* d_lens = nullptr;
    float* d_leaving = nullptr;
    float* d_widest = nullptr;
    cudaMalloc(&d_ray, RAYS * 2 * sizeof(float));
    cudaMemcpy(d_ray, h_ray.data(), RAYS * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_lens, LENSES * 2 * sizeof(float));
    cudaMemcpy(d_lens, h_lens.data(), LENSES * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_leaving, RAYS * 2 * sizeof(float));
    cudaMalloc(&d_widest, RAYS * sizeof(float));

    cudaMemcpyToSymbol(train, d_lens, LENSES * sizeof(float2), 0, cudaMemcpyDeviceToDevice);
    int pairs = (RAYS + 1) / 2;
    trace_pairs<<<(pairs + BLOCK - 1) / BLOCK, BLOCK>>>(d_ray, d_leaving, d_widest);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_leaving.data(), d_leaving, RAYS * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_widest.data(), d_widest, RAYS * sizeof(float), cudaMemcpyDeviceToHost);

    cudaFree(d_ray);
    cudaFree(d_lens);
    cudaFree(d_leaving);
    cudaFree(d_widest);

    std::ofstream out_leaving("data/leaving.bin", std::ios::binary);
    out_leaving.write(reinterpret_cast<const char*>(h_leaving.data()), RAYS * 2 * sizeof(float));
    std::ofstream out_widest("data/widest.bin", std::ios::binary);
    out_widest.write(reinterpret_cast<const char*>(h_widest.data()), RAYS * sizeof(float));
    return 0;
}
