#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cstdint>
#include <cuda_runtime.h>

static void check_cuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool read_file(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool write_file(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int kN = 10000;

__device__ int64_t ordered(float v) {
    unsigned int bits = __float_as_uint(v);
    int64_t m = bits & 0x7fffffffu;
    return (bits >> 31) ? -m : m;
}

__global__ void ulp_kernel(const float* a, const float* b, int64_t* ulps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int64_t d = ordered(a[i]) - ordered(b[i]);
        ulps[i] = d < 0 ? -d : d;
    }
}

int main() {
    std::vector<float> h_a(kN);
    std::vector<float> h_b(kN);
    std::vector<int64_t> h_ulps(kN);
    if (!read_file("data/a.bin", h_a.data(), kN * sizeof(float)) ||
        !read_file("data/b.bin", h_b.data(), kN * sizeof(float))) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    float *d_a, *d_b;
    int64_t* d_ulps;
    check_cuda(cudaMalloc(&d_a, kN * sizeof(float)), "cudaMalloc a");
    check_cuda(cudaMalloc(&d_b, kN * sizeof(float)), "cudaMalloc b");
    check_cuda(cudaMalloc(&d_ulps, kN * sizeof(int64_t)), "cudaMalloc ulps");
    check_cuda(cudaMemcpy(d_a, h_a.data(), kN * sizeof(float), cudaMemcpyHostToDevice), "memcpy a");
    check_cuda(cudaMemcpy(d_b, h_b.data(), kN * sizeof(float), cudaMemcpyHostToDevice), "memcpy b");

    int block = 256;
    int grid = (kN + block - 1) / block;
    ulp_kernel<<<grid, block>>>(d_a, d_b, d_ulps, kN);
    check_cuda(cudaGetLastError(), "kernel launch");
    check_cuda(cudaMemcpy(h_ulps.data(), d_ulps, kN * sizeof(int64_t), cudaMemcpyDeviceToHost), "download");

    if (!write_file("data/ulps.bin", h_ulps.data(), kN * sizeof(int64_t))) {
        fprintf(stderr, "cannot write data/ulps.bin\n");
        return 1;
    }
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_ulps);
    return 0;
}
