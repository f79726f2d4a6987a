#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 24;
constexpr int kCols = 500;
constexpr int kSlices = 16;

inline void require(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool readVector(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool writeVector(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

// 16 x 16 tile of the result per block and one slice of the columns per blockIdx.z.
__global__ void gram_slices(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ partial) {
    __shared__ float left[16][33];
    __shared__ float right[16][33];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;
    const int width = (kCols + kSlices - 1) / kSlices;
    const int begin = blockIdx.z * width;
    const int end = min(begin + width, kCols);
    float sum = 0.0f;
    for (int k0 = begin; k0 < end; k0 += 32) {
        for (int e = tx; e < 32; e += 16) {
            const int k = k0 + e;
            left[ty][e] = k < end && i0 + ty < kRows ? w[k] * a[(i0 + ty) * kCols + k] : 0.0f;
            right[ty][e] = k < end && j0 + ty < kRows ? a[(j0 + ty) * kCols + k] : 0.0f;
        }
        __syncthreads();
        for (int e = 0; e < 32; ++e) sum = fmaf(left[ty][e], right[tx][e], sum);
        __syncthreads();
    }
    if (i0 + ty < kRows && j0 + tx < kRows) partial[(blockIdx.z * kRows + i0 + ty) * kRows + j0 + tx] = sum;
}

__global__ void gram_finish(const float* __restrict__ partial, float* __restrict__ g) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= kRows * kRows) return;
    float sum = 0.0f;
    for (int z = 0; z < kSlices; ++z) sum += partial[z * kRows * kRows + e];
    g[e] = sum / kCols + (e / kRows == e % kRows ? 0.1f : 0.0f);
}

int main() {
    std::vector<float> host_a(kRows * kCols);
    std::vector<float> host_w(kCols);
    std::vector<float> host_g(kRows * kRows);
    if (!readVector("data/a.bin", host_a) || !readVector("data/w.bin", host_w)) {
        fprintf(stderr, "reading failed\n");
        return 1;
    }

    float *d_a, *d_w, *d_g, *d_partial;
    require(cudaMalloc(&d_a, sizeof(float) * kRows * kCols), "cudaMalloc a");
    require(cudaMalloc(&d_w, kCols * sizeof(float)), "cudaMalloc w");
    require(cudaMalloc(&d_g, sizeof(float) * kRows * kRows), "cudaMalloc g");
    require(cudaMalloc(&d_partial, sizeof(float) * kSlices * kRows * kRows), "cudaMalloc partial");
    require(cudaMemcpy(d_a, host_a.data(), sizeof(float) * kRows * kCols, cudaMemcpyHostToDevice), "copy a");
    require(cudaMemcpy(d_w, host_w.data(), kCols * sizeof(float), cudaMemcpyHostToDevice), "copy w");

    const int tiles = (kRows + 15) / 16;
    gram_slices<<<dim3(tiles, tiles, kSlices), dim3(16, 16)>>>(d_a, d_w, d_partial);
    gram_finish<<<(kRows * kRows + 255) / 256, 256>>>(d_partial, d_g);
    require(cudaGetLastError(), "launch");
    require(cudaMemcpy(host_g.data(), d_g, sizeof(float) * kRows * kRows, cudaMemcpyDeviceToHost), "copy g");

    if (!writeVector("data/g.bin", host_g)) return 1;
    cudaFree(d_a);
    cudaFree(d_w);
    cudaFree(d_g);
    cudaFree(d_partial);
    return 0;
}
