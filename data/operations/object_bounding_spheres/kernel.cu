#include <cfloat>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kObjects = 40;
constexpr int kSize = 300;
const int kBlock = 128;

__device__ float warp_max(float v) {
    for (int s = 16; s > 0; s /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, s));
    return v;
}

// The largest value of v over the block, known to all threads; a minimum is found with the sign changed.
__device__ float block_max(float v, float* scratch) {
    v = warp_max(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    float best = scratch[0];
    for (int w = 1; w < kBlock / 32; ++w) best = fmaxf(best, scratch[w]);
    return best;
}

__global__ void cluster_spheres(const float* __restrict__ points, float4* __restrict__ spheres) {
    __shared__ float scratch[kBlock / 32];
    const float* p = points + (size_t)blockIdx.x * kSize * 3;
    float high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    float low[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (int j = threadIdx.x; j < kSize; j += kBlock) {
        for (int k = 0; k < 3; ++k) {
            float v = p[3 * j + k];
            high[k] = fmaxf(high[k], v);
            low[k] = fmaxf(low[k], -v);
        }
    }
    float center[3];
    for (int k = 0; k < 3; ++k)
        center[k] = 0.5f * (block_max(high[k], scratch) - block_max(low[k], scratch));
    float far = 0.0f;
    for (int j = threadIdx.x; j < kSize; j += kBlock) {
        float dx = p[3 * j] - center[0], dy = p[3 * j + 1] - center[1], dz = p[3 * j + 2] - center[2];
        far = fmaxf(far, fmaf(dx, dx, fmaf(dy, dy, dz * dz)));
    }
    far = block_max(far, scratch);
    if (threadIdx.x == 0) spheres[blockIdx.x] = make_float4(center[0], center[1], center[2], sqrtf(far));
}

int main() {
    auto h_points = read_vector<float>("data/points.bin", kObjects * kSize * 3);
    std::vector<float> h_spheres(kObjects * 4);

    float* dev_points;
    float* dev_spheres;
    cudaMalloc(&dev_points, sizeof(float) * kObjects * kSize * 3);
    cudaMalloc(&dev_spheres, sizeof(float) * kObjects * 4);
    cudaMemcpy(dev_points, h_points.data(), sizeof(float) * kObjects * kSize * 3, cudaMemcpyHostToDevice);

    cluster_spheres<<<kObjects, kBlock>>>(dev_points, (float4*)dev_spheres);

    cudaMemcpy(h_spheres.data(), dev_spheres, sizeof(float) * kObjects * 4, cudaMemcpyDeviceToHost);
    write_vector("data/spheres.bin", h_spheres);

    cudaFree(dev_points);
    cudaFree(dev_spheres);
}
