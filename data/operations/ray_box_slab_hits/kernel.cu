#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(data), bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
}

void write_binary(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

static inline int div_up(int a, int b) { return (a + b - 1) / b; }

const int N = 2000;
const int M = 16;
const int BLOCK = 256;

__global__ void trace_boxes(const float* __restrict__ rays, const float* __restrict__ boxes,
                            int* __restrict__ hits, float* __restrict__ entry) {
    __shared__ float box[6 * M];
    for (int k = threadIdx.x; k < 6 * M; k += BLOCK) box[k] = boxes[k];
    __syncthreads();

    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) return;
    const float* r = rays + 6 * i;
    float ox = r[0], oy = r[1], oz = r[2];
    float ix = 1.0f / r[3], iy = 1.0f / r[4], iz = 1.0f / r[5];
    int count = 0;
    float first = INFINITY;
    for (int b = 0; b < 6 * M; b += 6) {
        float x0 = (box[b] - ox) * ix, x1 = (box[b + 3] - ox) * ix;
        float y0 = (box[b + 1] - oy) * iy, y1 = (box[b + 4] - oy) * iy;
        float z0 = (box[b + 2] - oz) * iz, z1 = (box[b + 5] - oz) * iz;
        float near = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fminf(z0, z1));
        float far = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
        bool hit = near <= far && far >= 0.0f;
        count += hit;
        first = hit ? fminf(first, fmaxf(near, 0.0f)) : first;
    }
    hits[i] = count;
    entry[i] = count ? first : -1.0f;
}

int main() {
    float* h_rays = new float[N * 6];
    float* h_boxes = new float[M * 6];
    int* h_hits = new int[N];
    float* h_entry = new float[N];
    read_binary("data/rays.bin", h_rays, sizeof(float) * N * 6);
    read_binary("data/boxes.bin", h_boxes, sizeof(float) * M * 6);

    float* d_rays = nullptr;
    float* d_boxes = nullptr;
    int* d_hits = nullptr;
    float* d_entry = nullptr;
    cudaMalloc(&d_rays, sizeof(float) * N * 6);
    cudaMalloc(&d_boxes, sizeof(float) * M * 6);
    cudaMalloc(&d_hits, sizeof(int) * N);
    cudaMalloc(&d_entry, sizeof(float) * N);
    cudaMemcpy(d_rays, h_rays, sizeof(float) * N * 6, cudaMemcpyHostToDevice);
    cudaMemcpy(d_boxes, h_boxes, sizeof(float) * M * 6, cudaMemcpyHostToDevice);

    trace_boxes<<<div_up(N, BLOCK), BLOCK>>>(d_rays, d_boxes, d_hits, d_entry);
    cudaDeviceSynchronize();

    cudaMemcpy(h_hits, d_hits, sizeof(int) * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_entry, d_entry, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/hits.bin", h_hits, sizeof(int) * N);
    write_binary("data/entry.bin", h_entry, sizeof(float) * N);

    cudaFree(d_rays);
    cudaFree(d_boxes);
    cudaFree(d_hits);
    cudaFree(d_entry);
    delete[] h_rays;
    delete[] h_boxes;
    delete[] h_hits;
    delete[] h_entry;
    return 0;
}
