#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, float* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::cerr << "cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
}

void save(const std::string& path, const float* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int kN = 2500;

__device__ void cross(const float* a, const float* b, float* out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

__device__ float dot(const float* a, const float* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

__global__ void intersect(const float* origins, const float* directions, const float* triangles,
                          float* t_out, float* uv) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    const float* tri = triangles + 9 * i;
    const float* d = directions + 3 * i;
    float e1[3], e2[3], s[3], q[3], r[3];
    for (int k = 0; k < 3; ++k) {
        e1[k] = tri[3 + k] - tri[k];
        e2[k] = tri[6 + k] - tri[k];
        s[k] = origins[3 * i + k] - tri[k];
    }
    cross(d, e2, q);
    cross(s, e1, r);
    float det = dot(e1, q);
    float t = -1.0f, u = 0.0f, v = 0.0f;
    if (det != 0.0f) {
        u = dot(s, q) / det;
        v = dot(d, r) / det;
        t = dot(e2, r) / det;
    }
    bool hit = det != 0.0f && u >= 0.0f && v >= 0.0f && u + v <= 1.0f && t > 0.0f;
    t_out[i] = hit ? t : -1.0f;
    uv[2 * i] = hit ? u : 0.0f;
    uv[2 * i + 1] = hit ? v : 0.0f;
}

int main() {
    float* h_origins = new float[kN * 3];
    float* h_directions = new float[kN * 3];
    float* h_triangles = new float[kN * 9];
    float* h_t = new float[kN];
    float* h_uv = new float[kN * 2];
    load("data/origins.bin", h_origins, kN * 3);
    load("data/directions.bin", h_directions, kN * 3);
    load("data/triangles.bin", h_triangles, kN * 9);

    float *d_origins, *d_directions, *d_triangles, *d_t, *d_uv;
    cudaMalloc(&d_origins, sizeof(float) * kN * 3);
    cudaMalloc(&d_directions, sizeof(float) * kN * 3);
    cudaMalloc(&d_triangles, sizeof(float) * kN * 9);
    cudaMalloc(&d_t, sizeof(float) * kN);
    cudaMalloc(&d_uv, sizeof(float) * kN * 2);
    cudaMemcpy(d_origins, h_origins, sizeof(float) * kN * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(d_directions, h_directions, sizeof(float) * kN * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(d_triangles, h_triangles, sizeof(float) * kN * 9, cudaMemcpyHostToDevice);

    int threads = 256;
    intersect<<<(kN + threads - 1) / threads, threads>>>(d_origins, d_directions, d_triangles, d_t, d_uv);
    cudaDeviceSynchronize();

    cudaMemcpy(h_t, d_t, sizeof(float) * kN, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_uv, d_uv, sizeof(float) * kN * 2, cudaMemcpyDeviceToHost);
    save("data/t.bin", h_t, kN);
    save("data/uv.bin", h_uv, kN * 2);

    cudaFree(d_origins);
    cudaFree(d_directions);
    cudaFree(d_triangles);
    cudaFree(d_t);
    cudaFree(d_uv);
    delete[] h_origins;
    delete[] h_directions;
    delete[] h_triangles;
    delete[] h_t;
    delete[] h_uv;
    return 0;
}
