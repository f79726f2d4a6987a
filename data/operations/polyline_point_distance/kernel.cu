#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void check_cuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

bool read_all(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool write_all(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(src, 1, bytes, f);
    fclose(f);
    return put == bytes;
}

constexpr int N = 3000;
constexpr int M = 17;
const int BLOCK = 128;

// Start, direction and inverse squared length of every segment are prepared once per block.
__global__ void nearest_on_polyline(const float2* __restrict__ points, const float2* __restrict__ vertices,
                                    float* __restrict__ distance) {
    __shared__ float4 segment[M - 1];
    __shared__ float inverse[M - 1];
    for (int j = threadIdx.x; j < M - 1; j += BLOCK) {
        float2 a = vertices[j], b = vertices[j + 1];
        float ex = b.x - a.x, ey = b.y - a.y;
        float len2 = ex * ex + ey * ey;
        segment[j] = make_float4(a.x, a.y, ex, ey);
        inverse[j] = len2 > 0.0f ? 1.0f / len2 : 0.0f;
    }
    __syncthreads();

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        float2 p = points[i];
        float best = INFINITY;
        for (int j = 0; j < M - 1; ++j) {
            float4 s = segment[j];
            float qx = p.x - s.x, qy = p.y - s.y;
            float t = __saturatef((qx * s.z + qy * s.w) * inverse[j]);
            float dx = qx - t * s.z, dy = qy - t * s.w;
            best = fminf(best, dx * dx + dy * dy);
        }
        distance[i] = sqrtf(best);
    }
}

int main() {
    std::vector<float> points(N * 2);
    std::vector<float> vertices(M * 2);
    std::vector<float> distance(N);
    if (!read_all("data/points.bin", points.data(), N * 2 * sizeof(float))) {
        fprintf(stderr, "cannot read data/points.bin\n");
        return 1;
    }
    if (!read_all("data/vertices.bin", vertices.data(), M * 2 * sizeof(float))) {
        fprintf(stderr, "cannot read data/vertices.bin\n");
        return 1;
    }

    float* dPoints = nullptr;
    float* dVertices = nullptr;
    float* dDistance = nullptr;
    check_cuda(cudaMalloc(&dPoints, N * 2 * sizeof(float)), "cudaMalloc");
    check_cuda(cudaMalloc(&dVertices, M * 2 * sizeof(float)), "allocate vertices");
    check_cuda(cudaMalloc(&dDistance, N * sizeof(float)), "malloc distance");
    check_cuda(cudaMemcpy(dPoints, points.data(), N * 2 * sizeof(float), cudaMemcpyHostToDevice), "copy points");
    check_cuda(cudaMemcpy(dVertices, vertices.data(), M * 2 * sizeof(float), cudaMemcpyHostToDevice), "copy vertices");

    int blocks = (N + BLOCK - 1) / BLOCK;
    if (blocks > 1024) blocks = 1024;
    nearest_on_polyline<<<blocks, BLOCK>>>((const float2*)dPoints, (const float2*)dVertices, dDistance);
    check_cuda(cudaGetLastError(), "launch");

    check_cuda(cudaMemcpy(distance.data(), dDistance, N * sizeof(float), cudaMemcpyDeviceToHost), "copy distance");
    if (!write_all("data/distance.bin", distance.data(), N * sizeof(float))) return 1;

    cudaFree(dPoints);
    cudaFree(dVertices);
    cudaFree(dDistance);
    return 0;
}
