#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define NV 1000
#define NF 2000

__global__ void add_face_normals(const float* vertices, const int* faces, float* normals) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= NF) return;
    const float* a = vertices + 3 * faces[3 * f];
    const float* b = vertices + 3 * faces[3 * f + 1];
    const float* c = vertices + 3 * faces[3 * f + 2];
    float ux = b[0] - a[0], uy = b[1] - a[1], uz = b[2] - a[2];
    float vx = c[0] - a[0], vy = c[1] - a[1], vz = c[2] - a[2];
    float nx = uy * vz - uz * vy;
    float ny = uz * vx - ux * vz;
    float nz = ux * vy - uy * vx;
    for (int k = 0; k < 3; ++k) {
        float* sum = normals + 3 * faces[3 * f + k];
        atomicAdd(sum, nx);
        atomicAdd(sum + 1, ny);
        atomicAdd(sum + 2, nz);
    }
}

__global__ void normalize_all(float* normals) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= NV) return;
    float* n = normals + 3 * v;
    float len = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (len < 1e-6f) {
        n[0] = 0.0f;
        n[1] = 0.0f;
        n[2] = 1.0f;
    } else {
        for (int k = 0; k < 3; ++k) n[k] /= len;
    }
}

int main() {
    std::vector<float> vertices(NV * 3), normals(NV * 3);
    std::vector<int> faces(NF * 3);
    std::ifstream in_vertices("data/vertices.bin", std::ios::binary);
    in_vertices.read((char*)vertices.data(), NV * 3 * sizeof(float));
    if (!in_vertices) { std::cerr << "data/vertices.bin\n"; return 1; }
    std::ifstream in_faces("data/faces.bin", std::ios::binary);
    in_faces.read((char*)faces.data(), NF * 3 * sizeof(int));
    if (!in_faces) { std::cerr << "data/faces.bin\n"; return 1; }
    float *d_vertices, *d_normals;
    int *d_faces;
    cudaMalloc(&d_vertices, NV * 3 * sizeof(float));
    cudaMalloc(&d_faces, NF * 3 * sizeof(int));
    cudaMalloc(&d_normals, NV * 3 * sizeof(float));
    cudaMemcpy(d_vertices, vertices.data(), NV * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_faces, faces.data(), NF * 3 * sizeof(int), cudaMemcpyHostToDevice);
    int threads = 256;
    cudaMemset(d_normals, 0, sizeof(float) * 3 * NV);
    add_face_normals<<<(NF + threads - 1) / threads, threads>>>(d_vertices, d_faces, d_normals);
    normalize_all<<<(NV + threads - 1) / threads, threads>>>(d_normals);
    cudaMemcpy(normals.data(), d_normals, NV * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/normals.bin", std::ios::binary).write((char*)normals.data(), NV * 3 * sizeof(float));
    cudaFree(d_vertices); cudaFree(d_faces); cudaFree(d_normals);
}
