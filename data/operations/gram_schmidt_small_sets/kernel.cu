#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int SETS = 30;
const int K = 4;
const int DIM = 100;

// One warp per set, vectors in shared memory. As soon as vector i is finished it is removed from all later ones.
__global__ void gram_schmidt_warps(const float* __restrict__ v, float* __restrict__ q, float* __restrict__ r) {
    __shared__ float vectors[K * DIM];
    const int lane = threadIdx.x;
    const size_t base = (size_t)blockIdx.x * K * DIM;
    float* rs = r + blockIdx.x * K * K;
    for (int e = lane; e < K * DIM; e += 32) vectors[e] = v[base + e];
    for (int e = lane; e < K * K; e += 32) {
        if (e % K < e / K) rs[e] = 0.0f;
    }
    __syncwarp();
    for (int i = 0; i < K; ++i) {
        float* u = vectors + i * DIM;
        float sum = 0.0f;
        for (int d = lane; d < DIM; d += 32) sum = fmaf(u[d], u[d], sum);
        for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        const float length = sqrtf(sum);
        const float inv = 1.0f / length;
        for (int d = lane; d < DIM; d += 32) u[d] *= inv;
        if (lane == 0) rs[i * K + i] = length;
        for (int j = i + 1; j < K; ++j) {
            float* w = vectors + j * DIM;
            float dot = 0.0f;
            for (int d = lane; d < DIM; d += 32) dot = fmaf(u[d], w[d], dot);
            for (int s = 16; s > 0; s >>= 1) dot += __shfl_xor_sync(0xffffffffu, dot, s);
            for (int d = lane; d < DIM; d += 32) w[d] = fmaf(-dot, u[d], w[d]);
            if (lane == 0) rs[i * K + j] = dot;
        }
    }
    __syncwarp();
    for (int e = lane; e < K * DIM; e += 32) q[base + e] = vectors[e];
}

int main() {
    const size_t n_v = (size_t)SETS * K * DIM;
    const size_t n_r = (size_t)SETS * K * K;
    std::vector<float> h_v(n_v), h_q(n_v), h_r(n_r);
    std::ifstream v_file("data/v.bin", std::ios::binary);
    v_file.read(reinterpret_cast<char*>(h_v.data()), n_v * sizeof(float));
    if (!v_file) {
        std::cerr << "failed to load data/v.bin" << std::endl;
        return 1;
    }

    float *d_v = nullptr, *d_q = nullptr, *d_r = nullptr;
    cudaMalloc(&d_v, n_v * sizeof(float));
    cudaMalloc(&d_q, n_v * sizeof(float));
    cudaMalloc(&d_r, n_r * sizeof(float));
    cudaMemcpy(d_v, h_v.data(), n_v * sizeof(float), cudaMemcpyHostToDevice);

    gram_schmidt_warps<<<SETS, 32>>>(d_v, d_q, d_r);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_q.data(), d_q, n_v * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_r.data(), d_r, n_r * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream q_out("data/q.bin", std::ios::binary);
    q_out.write(reinterpret_cast<const char*>(h_q.data()), n_v * sizeof(float));
    std::ofstream r_out("data/r.bin", std::ios::binary);
    r_out.write(reinterpret_cast<const char*>(h_r.data()), n_r * sizeof(float));

    cudaFree(d_v);
    cudaFree(d_q);
    cudaFree(d_r);
    return 0;
}
