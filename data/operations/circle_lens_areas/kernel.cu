#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, void* buffer, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(buffer), bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
}

void save_array(const std::string& path, const void* buffer, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(buffer), bytes);
}
//@given

static inline int div_up(int a, int b) { return (a + b - 1) / b; }

const int N = 5000;
const int BLOCK = 256;

__device__ float clipped_acos(float c) { return acosf(fminf(fmaxf(c, -1.0f), 1.0f)); }

__device__ float common_area(float d2, float r, float R) {
    float d = sqrtf(d2);
    if (d >= R + r) return 0.0f;
    if (d <= R - r) return 3.14159265f * r * r;
    float half = 0.5f / d;
    float gap = (R - r) * (R + r);
    float k = ((r + R) - d) * (d - (R - r)) * (d + (R - r)) * (d + (r + R));
    return r * r * clipped_acos((d2 - gap) * half / r) + R * R * clipped_acos((d2 + gap) * half / R) -
           0.5f * sqrtf(fmaxf(k, 0.0f));
}

// Circles of the block are staged so that rows of three floats are read without gaps.
__global__ void lens_areas(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ area) {
    __shared__ float sa[3 * BLOCK], sb[3 * BLOCK];
    int first = blockIdx.x * BLOCK;
    int count = min(BLOCK, N - first);
    for (int k = threadIdx.x; k < 3 * count; k += BLOCK) {
        sa[k] = a[3 * first + k];
        sb[k] = b[3 * first + k];
    }
    __syncthreads();
    int t = threadIdx.x;
    if (t < count) {
        float dx = sa[3 * t] - sb[3 * t], dy = sa[3 * t + 1] - sb[3 * t + 1];
        float ra = sa[3 * t + 2], rb = sb[3 * t + 2];
        area[first + t] = common_area(dx * dx + dy * dy, fminf(ra, rb), fmaxf(ra, rb));
    }
}

int main() {
    const size_t a_bytes = sizeof(float) * N * 3;
    const size_t b_bytes = sizeof(float) * N * 3;
    const size_t area_bytes = sizeof(float) * N;
    float* h_a = (float*)malloc(a_bytes);
    float* h_b = (float*)malloc(b_bytes);
    float* h_area = (float*)malloc(area_bytes);
    load_array("data/a.bin", h_a, a_bytes);
    load_array("data/b.bin", h_b, b_bytes);

    float* gpu_a;
    float* gpu_b;
    float* gpu_area;
    cudaMalloc(&gpu_a, a_bytes);
    cudaMalloc(&gpu_b, b_bytes);
    cudaMalloc(&gpu_area, area_bytes);
    cudaMemcpy(gpu_a, h_a, a_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(gpu_b, h_b, b_bytes, cudaMemcpyHostToDevice);

    lens_areas<<<div_up(N, BLOCK), BLOCK>>>(gpu_a, gpu_b, gpu_area);

    cudaMemcpy(h_area, gpu_area, area_bytes, cudaMemcpyDeviceToHost);
    save_array("data/area.bin", h_area, area_bytes);

    cudaFree(gpu_a);
    cudaFree(gpu_b);
    cudaFree(gpu_area);
    free(h_a);
    free(h_b);
    free(h_area);
    return 0;
}
