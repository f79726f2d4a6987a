#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 15000;

__device__ __forceinline__ float relative(float x, float y, unsigned char* flag) {
    const float diff = fabsf(x - y);
    const float total = fabsf(x) + fabsf(y);
    *flag = diff <= fmaf(1e-3f, fabsf(y), 1e-4f);
    return total > 0.0f ? 2.0f * diff / total : 0.0f;
}

__global__ void compare_four(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ error,
                             unsigned char* __restrict__ close, int n) {
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        const float4 x = *reinterpret_cast<const float4*>(a + first);
        const float4 y = *reinterpret_cast<const float4*>(b + first);
        float4 e;
        uchar4 f;
        e.x = relative(x.x, y.x, &f.x);
        e.y = relative(x.y, y.y, &f.y);
        e.z = relative(x.z, y.z, &f.z);
        e.w = relative(x.w, y.w, &f.w);
        *reinterpret_cast<float4*>(error + first) = e;
        *reinterpret_cast<uchar4*>(close + first) = f;
    } else {
        for (int i = first; i < n; ++i) error[i] = relative(a[i], b[i], close + i);
    }
}

int main() {
    std::vector<float> h_a(N);
    std::vector<float> h_b(N);
    std::vector<float> h_error(N);
    std::vector<unsigned char> h_close(N);
    std::ifstream a_file("data/a.bin", std::ios::binary);
    a_file.read((char*)h_a.data(), N * sizeof(float));
    if (!a_file) {
        std::cerr << "could not read data/a.bin" << std::endl;
        return 1;
    }
    std::ifstream in_b("data/b.bin", std::ios::binary);
    in_b.read((char*)h_b.data(), N * sizeof(float));
    if (!in_b) {
        std::cerr << "failed to read data/b.bin" << std::endl;
        return 1;
    }

    float* d_a;
    float* d_b;
    float* d_error;
    unsigned char* d_close;
    cudaMalloc(&d_a, N * sizeof(float));
    cudaMalloc(&d_b, N * sizeof(float));
    cudaMalloc(&d_error, N * sizeof(float));
    cudaMalloc(&d_close, N * sizeof(unsigned char));
    cudaMemcpy(d_a, h_a.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    const int quads = (N + 4 - 1) / 4;
    compare_four<<<(quads + 127) / 128, 128>>>(d_a, d_b, d_error, d_close, N);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "GPU: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_error.data(), d_error, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_close.data(), d_close, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream fout_error("data/error.bin", std::ios::binary);
    fout_error.write((char*)h_error.data(), N * sizeof(float));
    std::ofstream out_close("data/close.bin", std::ios::binary);
    out_close.write((char*)h_close.data(), N * sizeof(unsigned char));
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_error);
    cudaFree(d_close);
    return 0;
}
