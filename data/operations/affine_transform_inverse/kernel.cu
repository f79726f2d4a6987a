#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int COUNT = 1500;

__device__ float3 cross3(float4 u, float4 v) {
    return make_float3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
}

__device__ float4 finish_row(float x, float y, float z, float r, float3 t) {
    x *= r;
    y *= r;
    z *= r;
    return make_float4(x, y, z, -fmaf(x, t.x, fmaf(y, t.y, z * t.z)));
}

// A row of a map is one float4: its linear part and its translation.
__global__ void invert_rows(const float4* __restrict__ maps, float4* __restrict__ back) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    const float4 r0 = maps[3 * i], r1 = maps[3 * i + 1], r2 = maps[3 * i + 2];
    const float3 c0 = cross3(r1, r2), c1 = cross3(r2, r0), c2 = cross3(r0, r1);
    const float r = 1.0f / fmaf(r0.x, c0.x, fmaf(r0.y, c0.y, r0.z * c0.z));
    const float3 t = make_float3(r0.w, r1.w, r2.w);
    back[3 * i] = finish_row(c0.x, c1.x, c2.x, r, t);
    back[3 * i + 1] = finish_row(c0.y, c1.y, c2.y, r, t);
    back[3 * i + 2] = finish_row(c0.z, c1.z, c2.z, r, t);
}

void launch(const float* d_maps, float* d_back) {
    invert_rows<<<(COUNT + 255) / 256, 256>>>((const float4*)d_maps, (float4*)d_back);
}

int main() {
    const size_t n_maps = (size_t)COUNT * 3 * 4;
    std::vector<float> h_maps(n_maps);
    std::vector<float> h_back(n_maps);
    std::ifstream maps_in("data/maps.bin", std::ios::binary);
    if (!maps_in.read(reinterpret_cast<char*>(h_maps.data()), n_maps * sizeof(float))) {
        std::cerr << "data/maps.bin is missing or short\n";
        return 1;
    }

    float *d_maps, *d_back;
    cudaMalloc(&d_maps, n_maps * sizeof(float));
    cudaMalloc(&d_back, n_maps * sizeof(float));
    cudaMemcpy(d_maps, h_maps.data(), n_maps * sizeof(float), cudaMemcpyHostToDevice);
    launch(d_maps, d_back);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }
    cudaMemcpy(h_back.data(), d_back, n_maps * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream back_out("data/back.bin", std::ios::binary);
    back_out.write(reinterpret_cast<const char*>(h_back.data()), n_maps * sizeof(float));
    cudaFree(d_maps);
    cudaFree(d_back);
    return 0;
}
