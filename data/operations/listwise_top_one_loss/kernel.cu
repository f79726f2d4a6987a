#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int LISTS = 100;
const int LONGEST = 60;

__device__ float warp_max(float v) {
    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

__device__ float warp_add(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__global__ void listnet_warp(const float* __restrict__ scores, const float* __restrict__ relevance,
                             const int* __restrict__ length, float* __restrict__ loss) {
    const int lane = threadIdx.x;
    const int q = blockIdx.x * blockDim.y + threadIdx.y;
    if (q >= LISTS) return;
    const float* s = scores + (size_t)q * LONGEST;
    const float* r = relevance + (size_t)q * LONGEST;
    const int n = length[q];
    float smax = -INFINITY, rmax = -INFINITY;
    for (int k = lane; k < n; k += 32) {
        smax = fmaxf(smax, s[k]);
        rmax = fmaxf(rmax, r[k]);
    }
    smax = warp_max(smax);
    rmax = warp_max(rmax);
    float ssum = 0.0f, rsum = 0.0f, cross = 0.0f;
    for (int k = lane; k < n; k += 32) {
        const float x = s[k] - smax;
        const float t = expf(r[k] - rmax);
        ssum += expf(x);
        rsum += t;
        cross = fmaf(t, x, cross);
    }
    ssum = warp_add(ssum);
    rsum = warp_add(rsum);
    cross = warp_add(cross);
    if (lane == 0) loss[q] = logf(ssum) - cross / rsum;
}

int main() {
    float *scores, *relevance, *loss;
    int* length;
    cudaMallocManaged(&scores, LISTS * LONGEST * sizeof(float));
    cudaMallocManaged(&relevance, LISTS * LONGEST * sizeof(float));
    cudaMallocManaged(&length, LISTS * sizeof(int));
    cudaMallocManaged(&loss, LISTS * sizeof(float));

    std::ifstream scores_file("data/scores.bin", std::ios::binary);
    if (!scores_file.read(reinterpret_cast<char*>(scores), LISTS * LONGEST * sizeof(float))) {
        std::cerr << "data/scores.bin: read error" << std::endl;
        return 1;
    }
    std::ifstream relevance_file("data/relevance.bin", std::ios::binary);
    if (!relevance_file.read(reinterpret_cast<char*>(relevance), LISTS * LONGEST * sizeof(float))) {
        std::cerr << "data/relevance.bin: too short or missing" << std::endl;
        return 1;
    }
    std::ifstream length_file("data/length.bin", std::ios::binary);
    if (!length_file.read(reinterpret_cast<char*>(length), LISTS * sizeof(int))) {
        std::cerr << "data/length.bin: too short or missing" << std::endl;
        return 1;
    }

    listnet_warp<<<(LISTS + 7) / 8, dim3(32, 8)>>>(scores, relevance, length, loss);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(cudaGetLastError()) << std::endl;
        return 1;
    }

    std::ofstream loss_file("data/loss.bin", std::ios::binary);
    loss_file.write(reinterpret_cast<const char*>(loss), LISTS * sizeof(float));

    cudaFree(scores);
    cudaFree(relevance);
    cudaFree(length);
    cudaFree(loss);
    return 0;
}
