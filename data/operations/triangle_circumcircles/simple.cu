#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void readData(const std::string& path, T* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

template <typename T>
void writeData(const std::string& path, const T* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
}
//@given

const int N = 2000;

__global__ void circumcircle(const float* triangles, float* circle, uint8_t* obtuse) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float* p = triangles + 6 * (size_t)i;
    float ax = p[0], ay = p[1];
    float bx = p[2] - ax, by = p[3] - ay;
    float cx = p[4] - ax, cy = p[5] - ay;
    float bb = bx * bx + by * by;
    float cc = cx * cx + cy * cy;
    float aa = (bx - cx) * (bx - cx) + (by - cy) * (by - cy);
    float d = 2.0f * (bx * cy - by * cx);
    float ux = (cy * bb - by * cc) / d;
    float uy = (bx * cc - cx * bb) / d;
    circle[3 * i] = ax + ux;
    circle[3 * i + 1] = ay + uy;
    circle[3 * i + 2] = sqrtf(ux * ux + uy * uy);
    float longest = fmaxf(aa, fmaxf(bb, cc));
    obtuse[i] = longest > aa + bb + cc - longest ? 1 : 0;
}

int main() {
    const size_t num_triangles = N * 3 * 2;
    const size_t num_circle = (size_t)N * 3;
    float* h_triangles = new float[num_triangles];
    float* h_circle = new float[num_circle];
    uint8_t* h_obtuse = new uint8_t[N];
    readData("data/triangles.bin", h_triangles, num_triangles);

    float* d_triangles;
    cudaMalloc(&d_triangles, num_triangles * sizeof(float));
    float* d_circle;
    cudaMalloc(&d_circle, num_circle * sizeof(float));
    uint8_t* d_obtuse;
    cudaMalloc(&d_obtuse, N * sizeof(uint8_t));
    cudaMemcpy(d_triangles, h_triangles, num_triangles * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    circumcircle<<<(N + threads - 1) / threads, threads>>>(d_triangles, d_circle, d_obtuse);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_circle, d_circle, num_circle * sizeof(float), cudaMemcpyDeviceToHost);
    writeData("data/circle.bin", h_circle, num_circle);
    cudaMemcpy(h_obtuse, d_obtuse, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    writeData("data/obtuse.bin", h_obtuse, N);

    delete[] h_triangles;
    delete[] h_circle;
    delete[] h_obtuse;
    cudaFree(d_triangles);
    cudaFree(d_circle);
    cudaFree(d_obtuse);
    return 0;
}
