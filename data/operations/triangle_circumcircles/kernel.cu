#include <cmath>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define N 2000
#define BLOCK 128

// Corners come as three float2; the results pass through shared memory so that the stores are contiguous.
__global__ void circumcircle_tiles(const float2* __restrict__ corners, float* __restrict__ circle,
                                   unsigned char* __restrict__ obtuse) {
    __shared__ float2 in[3 * BLOCK];
    __shared__ float out[3 * BLOCK];
    const int t = threadIdx.x;
    const int first = blockIdx.x * BLOCK;
    const int values = 3 * min(BLOCK, N - first);
    for (int k = t; k < values; k += BLOCK) in[k] = corners[3 * (size_t)first + k];
    __syncthreads();
    if (first + t < N) {
        const float2 a = in[3 * t], q = in[3 * t + 1], r = in[3 * t + 2];
        const float2 b = make_float2(q.x - a.x, q.y - a.y), c = make_float2(r.x - a.x, r.y - a.y);
        const float bb = b.x * b.x + b.y * b.y, cc = c.x * c.x + c.y * c.y;
        const float inverse = 0.5f / (b.x * c.y - b.y * c.x);
        const float ux = (c.y * bb - b.y * cc) * inverse, uy = (b.x * cc - c.x * bb) * inverse;
        out[3 * t] = a.x + ux;
        out[3 * t + 1] = a.y + uy;
        out[3 * t + 2] = sqrtf(ux * ux + uy * uy);
        // An angle is obtuse where the scalar product of its two sides is negative.
        const float at_a = b.x * c.x + b.y * c.y;
        obtuse[first + t] = at_a < 0.0f || bb - at_a < 0.0f || cc - at_a < 0.0f;
    }
    __syncthreads();
    for (int k = t; k < values; k += BLOCK) circle[3 * (size_t)first + k] = out[k];
}

int main() {
    const size_t triangles_count = (size_t)N * 3 * 2;
    const size_t circle_count = N * 3;
    std::vector<float> triangles(triangles_count);
    std::vector<float> circle(circle_count);
    std::vector<unsigned char> obtuse(N);
    if (!std::ifstream("data/triangles.bin", std::ios::binary).read((char*)triangles.data(),
        triangles_count * sizeof(float))) return 1;
    float* d_triangles; cudaMalloc(&d_triangles, triangles_count * sizeof(float));
    float* d_circle; cudaMalloc(&d_circle, circle_count * sizeof(float));
    unsigned char* d_obtuse; cudaMalloc(&d_obtuse, N * sizeof(unsigned char));
    cudaMemcpy(d_triangles, triangles.data(), triangles_count * sizeof(float), cudaMemcpyHostToDevice);
    circumcircle_tiles<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>((const float2*)d_triangles, d_circle, d_obtuse);
    cudaMemcpy(circle.data(), d_circle, circle_count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(obtuse.data(), d_obtuse, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream("data/circle.bin", std::ios::binary).write((char*)circle.data(), circle_count * sizeof(float));
    std::ofstream("data/obtuse.bin", std::ios::binary).write((char*)obtuse.data(), N * sizeof(unsigned char));
    return 0;
}
