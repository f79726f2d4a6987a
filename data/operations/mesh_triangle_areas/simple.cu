#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int NV = 1000;
const int NF = 2000;

__global__ void triangle_kernel(const float* vertices, const int* faces, float* area, float* centroid) {
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

    area[f] = 0.5f * sqrtf(nx * nx + ny * ny + nz * nz);
    for (int k = 0; k < 3; ++k)
        centroid[3 * f + k] = (a[k] + b[k] + c[k]) / 3.0f;
}

int main() {
    std::vector<float> h_vertices(NV * 3);
    std::vector<float> h_area(NF);
    std::vector<float> h_centroid(NF * 3);
    std::vector<int> h_faces(NF * 3);

    std::ifstream in_vertices("data/vertices.bin", std::ios::binary);
    in_vertices.read(reinterpret_cast<char*>(h_vertices.data()), h_vertices.size() * sizeof(float));
    if (!in_vertices) {
        std::cerr << "missing or short data/vertices.bin" << std::endl;
        return 1;
    }
    std::ifstream in_faces("data/faces.bin", std::ios::binary);
    in_faces.read(reinterpret_cast<char*>(h_faces.data()), h_faces.size() * sizeof(int));
    if (!in_faces) {
        std::cerr << "missing or short data/faces.bin" << std::endl;
        return 1;
    }

    float* d_vertices = nullptr;
    int* d_faces = nullptr;
    float* d_area = nullptr;
    float* d_centroid = nullptr;
    cudaMalloc(&d_vertices, sizeof(float) * NV * 3);
    cudaMalloc(&d_faces, sizeof(int) * NF * 3);
    cudaMalloc(&d_area, sizeof(float) * NF);
    cudaMalloc(&d_centroid, sizeof(float) * NF * 3);
    cudaMemcpy(d_vertices, h_vertices.data(), sizeof(float) * NV * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(d_faces, h_faces.data(), sizeof(int) * NF * 3, cudaMemcpyHostToDevice);

    const int block = 256;
    triangle_kernel<<<(NF + block - 1) / block, block>>>(d_vertices, d_faces, d_area, d_centroid);

    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_area.data(), d_area, sizeof(float) * NF, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_centroid.data(), d_centroid, sizeof(float) * NF * 3, cudaMemcpyDeviceToHost);
    std::ofstream out_area("data/area.bin", std::ios::binary);
    out_area.write(reinterpret_cast<const char*>(h_area.data()), sizeof(float) * NF);
    std::ofstream out_centroid("data/centroid.bin", std::ios::binary);
    out_centroid.write(reinterpret_cast<const char*>(h_centroid.data()), sizeof(float) * NF * 3);

    cudaFree(d_vertices);
    cudaFree(d_faces);
    cudaFree(d_area);
    cudaFree(d_centroid);
    return 0;
}
