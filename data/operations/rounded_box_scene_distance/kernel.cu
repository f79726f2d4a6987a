#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::cerr << "cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
}

void write_binary(const std::string& path, const float* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

constexpr int N = 2000;
constexpr int M = 8;

__constant__ float c_shapes[7 * M];

// The scene lies in constant memory; two points a thread share each shape that is loaded.
__device__ float one(float3 p, const float* s) {
    float qx = fabsf(p.x - s[0]) - (s[3] - s[6]);
    float qy = fabsf(p.y - s[1]) - (s[4] - s[6]);
    float qz = fabsf(p.z - s[2]) - (s[5] - s[6]);
    float ox = fmaxf(qx, 0.0f), oy = fmaxf(qy, 0.0f), oz = fmaxf(qz, 0.0f);
    return sqrtf(ox * ox + oy * oy + oz * oz) + fminf(fmaxf(qx, fmaxf(qy, qz)), 0.0f) - s[6];
}

__global__ void two_points(const float* __restrict__ points, float* __restrict__ distance) {
    const int half = (N + 1) / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half) return;
    int j = i + half < N ? i + half : i;
    float3 p = make_float3(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
    float3 q = make_float3(points[3 * j], points[3 * j + 1], points[3 * j + 2]);
    float near_p = INFINITY, near_q = INFINITY;
    for (int k = 0; k < M; ++k) {
        near_p = fminf(near_p, one(p, c_shapes + 7 * k));
        near_q = fminf(near_q, one(q, c_shapes + 7 * k));
    }
    distance[i] = near_p;
    if (j != i) distance[j] = near_q;
}

int main() {
    float* h_points = new float[N * 3];
    float* h_shapes = new float[M * 7];
    float* h_distance = new float[N];
    read_binary("data/points.bin", h_points, N * 3);
    read_binary("data/shapes.bin", h_shapes, M * 7);

    float *d_points, *d_shapes, *d_distance;
    cudaMalloc(&d_points, sizeof(float) * N * 3);
    cudaMalloc(&d_shapes, sizeof(float) * M * 7);
    cudaMalloc(&d_distance, sizeof(float) * N);
    cudaMemcpy(d_points, h_points, sizeof(float) * N * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(d_shapes, h_shapes, sizeof(float) * M * 7, cudaMemcpyHostToDevice);

    cudaMemcpyToSymbol(c_shapes, d_shapes, sizeof(c_shapes), 0, cudaMemcpyDeviceToDevice);
    two_points<<<((N + 1) / 2 + 256 - 1) / 256, 256>>>(d_points, d_distance);
    cudaDeviceSynchronize();

    cudaMemcpy(h_distance, d_distance, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/distance.bin", h_distance, N);

    cudaFree(d_points);
    cudaFree(d_shapes);
    cudaFree(d_distance);
    delete[] h_points;
    delete[] h_shapes;
    delete[] h_distance;
    return 0;
}
