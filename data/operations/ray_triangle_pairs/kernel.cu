#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int N = 2500;

struct Vec {
    float x, y, z;
};

__device__ Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// The tests are made on the numerators; only hits divide.
__global__ void ray_hits(const Vec* __restrict__ origins, const Vec* __restrict__ directions,
                         const Vec* __restrict__ corners, float* __restrict__ t_out, float2* __restrict__ uv) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        Vec d = directions[i];
        Vec a = corners[3 * i];
        Vec e1 = corners[3 * i + 1] - a;
        Vec e2 = corners[3 * i + 2] - a;
        Vec s = origins[i] - a;
        Vec q = cross(d, e2);
        float det = dot(e1, q);
        float sign = det < 0.0f ? -1.0f : 1.0f;
        det *= sign;
        float u = sign * dot(s, q);
        float t = -1.0f;
        float2 where = make_float2(0.0f, 0.0f);
        if (det > 0.0f && u >= 0.0f && u <= det) {
            Vec r = cross(s, e1);
            float v = sign * dot(d, r);
            float along = sign * dot(e2, r);
            if (v >= 0.0f && u + v <= det && along > 0.0f) {
                float inv = 1.0f / det;
                t = along * inv;
                where = make_float2(u * inv, v * inv);
            }
        }
        t_out[i] = t;
        uv[i] = where;
    }
}

int main() {
    std::vector<float> origins(N * 3), directions(N * 3), triangles(N * 9), t(N), uv(N * 2);
    std::ifstream in_origins("data/origins.bin", std::ios::binary);
    if (!in_origins.read((char*)origins.data(), sizeof(float) * N * 3)) return 1;
    std::ifstream in_directions("data/directions.bin", std::ios::binary);
    if (!in_directions.read((char*)directions.data(), sizeof(float) * N * 3)) return 1;
    std::ifstream in_triangles("data/triangles.bin", std::ios::binary);
    if (!in_triangles.read((char*)triangles.data(), sizeof(float) * N * 9)) return 1;
    float* origins_d = nullptr;
    float* directions_d = nullptr;
    float* triangles_d = nullptr;
    float* t_d = nullptr;
    float* uv_d = nullptr;
    cudaMalloc(&origins_d, sizeof(float) * N * 3);
    cudaMalloc(&directions_d, sizeof(float) * N * 3);
    cudaMalloc(&triangles_d, sizeof(float) * N * 9);
    cudaMalloc(&t_d, sizeof(float) * N);
    cudaMalloc(&uv_d, sizeof(float) * N * 2);
    cudaMemcpy(origins_d, origins.data(), sizeof(float) * N * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(directions_d, directions.data(), sizeof(float) * N * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(triangles_d, triangles.data(), sizeof(float) * N * 9, cudaMemcpyHostToDevice);
    const int blocks = min((N + 127) / 128, 4096);
    ray_hits<<<blocks, 128>>>((const Vec*)origins_d, (const Vec*)directions_d,
                              (const Vec*)triangles_d, t_d, (float2*)uv_d);
    cudaMemcpy(t.data(), t_d, sizeof(float) * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(uv.data(), uv_d, sizeof(float) * N * 2, cudaMemcpyDeviceToHost);
    std::ofstream("data/t.bin", std::ios::binary).write((char*)t.data(), sizeof(float) * N);
    std::ofstream("data/uv.bin", std::ios::binary).write((char*)uv.data(), sizeof(float) * N * 2);
}
