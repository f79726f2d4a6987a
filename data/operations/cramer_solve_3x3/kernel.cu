#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int COUNT = 3001;

__device__ float3 plane3(const float* p, int first, int step, int i) {
    return make_float3(p[first * COUNT + i], p[(first + step) * COUNT + i], p[(first + 2 * step) * COUNT + i]);
}

__device__ float3 cross3(float3 u, float3 v) {
    return make_float3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
}

__device__ float dot3(float3 u, float3 v) {
    return fmaf(u.x, v.x, fmaf(u.y, v.y, u.z * v.z));
}

__global__ void cramer_cross(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ x) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += stride) {
        const float3 u = plane3(a, 0, 3, i), v = plane3(a, 1, 3, i), w = plane3(a, 2, 3, i);
        const float3 rhs = plane3(b, 0, 1, i);
        const float3 vw = cross3(v, w);
        const float inv = 1.0f / dot3(u, vw);
        x[i] = dot3(rhs, vw) * inv;
        x[COUNT + i] = dot3(rhs, cross3(w, u)) * inv;
        x[2 * COUNT + i] = dot3(rhs, cross3(u, v)) * inv;
    }
}

int main() {
    const size_t a_size = (size_t)9 * COUNT;
    const size_t b_size = (size_t)3 * COUNT;
    std::vector<float> h_a(a_size), h_b(b_size), h_x(b_size);
    std::ifstream a_file("data/a.bin", std::ios::binary);
    a_file.read(reinterpret_cast<char*>(h_a.data()), a_size * sizeof(float));
    if (!a_file) {
        std::cerr << "failed to load data/a.bin" << std::endl;
        return 1;
    }
    std::ifstream b_file("data/b.bin", std::ios::binary);
    b_file.read(reinterpret_cast<char*>(h_b.data()), b_size * sizeof(float));
    if (!b_file) {
        std::cerr << "cannot read data/b.bin" << std::endl;
        return 1;
    }

    float *d_a = nullptr, *d_b = nullptr, *d_x = nullptr;
    cudaMalloc(&d_a, a_size * sizeof(float));
    cudaMalloc(&d_b, b_size * sizeof(float));
    cudaMalloc(&d_x, b_size * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), a_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), b_size * sizeof(float), cudaMemcpyHostToDevice);

    int blocks = (COUNT + 127) / 128;
    if (blocks > 2048) blocks = 2048;
    cramer_cross<<<blocks, 128>>>(d_a, d_b, d_x);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_x.data(), d_x, b_size * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream x_out("data/x.bin", std::ios::binary);
    x_out.write(reinterpret_cast<const char*>(h_x.data()), b_size * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    return 0;
}
