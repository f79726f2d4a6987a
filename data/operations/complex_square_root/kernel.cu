#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float *buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
    if (!file) {
        std::cerr << "error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void write_binary(const std::string& path, const float *buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int ROWS = 30;
constexpr int COLS = 300;

__device__ float2 principal_root(float2 z) {
    const float big = sqrtf(0.5f * (hypotf(z.x, z.y) + fabsf(z.x)));
    const float small = big > 0.0f ? 0.5f * fabsf(z.y) / big : 0.0f;
    const float u = z.x >= 0.0f ? big : small;
    const float v = z.x >= 0.0f ? small : big;
    return make_float2(u, z.y < 0.0f ? -v : v);
}

// Each thread reads two numbers as one float4.
__global__ void complex_sqrt_pairs(const float4* __restrict__ z, float4* __restrict__ root, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) {
        const float4 v = z[i];
        const float2 a = principal_root(make_float2(v.x, v.y));
        const float2 b = principal_root(make_float2(v.z, v.w));
        root[i] = make_float4(a.x, a.y, b.x, b.y);
    }
}

int main() {
    const int total = ROWS * COLS;
    const int count = ROWS * COLS * 2;
    float *h_z = new float[count];
    float *h_root = new float[count];
    read_binary("data/z.bin", h_z, count);

    float *d_z;
    float *d_root;
    cudaMalloc(&d_z, count * sizeof(float));
    cudaMalloc(&d_root, count * sizeof(float));
    cudaMemcpy(d_z, h_z, count * sizeof(float), cudaMemcpyHostToDevice);

    const int pairs = total / 2;  // rows * cols is even
    complex_sqrt_pairs<<<(pairs + 255) / 256, 256>>>((const float4*)d_z, (float4*)d_root, pairs);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    cudaMemcpy(h_root, d_root, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/root.bin", h_root, count);

    cudaFree(d_root);
    cudaFree(d_z);
    delete[] h_z;
    delete[] h_root;
    return 0;
}
