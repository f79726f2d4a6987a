#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, void* dst, size_t bytes) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(static_cast<char*>(dst), bytes);
    if (!stream) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void save_array(const std::string& path, const void* dst, size_t bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(dst), bytes);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
const int COUNT = 2000;
const int BLOCK = 128;

// A block moves 128 matrices through shared memory with coalesced accesses; cofactors come from cross products of rows.
__global__ void invert_staged(const float* __restrict__ a, float* __restrict__ inverse, float* __restrict__ det) {
    __shared__ float s[9 * BLOCK];
    const int first = blockIdx.x * BLOCK;
    const int here = min(BLOCK, COUNT - first);
    for (int e = threadIdx.x; e < 9 * here; e += BLOCK) s[e] = a[9 * first + e];
    __syncthreads();
    if (threadIdx.x < here) {
        float* m = s + 9 * threadIdx.x;
        const float3 p = make_float3(m[0], m[1], m[2]);
        const float3 q = make_float3(m[3], m[4], m[5]);
        const float3 t = make_float3(m[6], m[7], m[8]);
        const float3 qt = make_float3(q.y * t.z - q.z * t.y, q.z * t.x - q.x * t.z, q.x * t.y - q.y * t.x);
        const float3 tp = make_float3(t.y * p.z - t.z * p.y, t.z * p.x - t.x * p.z, t.x * p.y - t.y * p.x);
        const float3 pq = make_float3(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x);
        const float d = p.x * qt.x + p.y * qt.y + p.z * qt.z;
        const float r = 1.0f / d;
        det[first + threadIdx.x] = d;
        m[0] = qt.x * r; m[1] = tp.x * r; m[2] = pq.x * r;
        m[3] = qt.y * r; m[4] = tp.y * r; m[5] = pq.y * r;
        m[6] = qt.z * r; m[7] = tp.z * r; m[8] = pq.z * r;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < 9 * here; e += BLOCK) inverse[9 * first + e] = s[e];
}

int main() {
    const size_t n_a = (size_t)COUNT * 3 * 3;
    float* h_a = new float[n_a];
    float* h_inverse = new float[n_a];
    float* h_det = new float[COUNT];
    load_array("data/a.bin", h_a, n_a * sizeof(float));

    float *d_a, *d_inverse, *d_det;
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMalloc(&d_inverse, n_a * sizeof(float));
    cudaMalloc(&d_det, COUNT * sizeof(float));
    cudaMemcpy(d_a, h_a, n_a * sizeof(float), cudaMemcpyHostToDevice);

    invert_staged<<<CEIL_DIV(COUNT, BLOCK), BLOCK>>>(d_a, d_inverse, d_det);

    cudaMemcpy(h_inverse, d_inverse, n_a * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_det, d_det, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/inverse.bin", h_inverse, n_a * sizeof(float));
    save_array("data/det.bin", h_det, COUNT * sizeof(float));

    delete[] h_a;
    delete[] h_inverse;
    delete[] h_det;
    cudaFree(d_a);
    cudaFree(d_inverse);
    cudaFree(d_det);
    return 0;
}
