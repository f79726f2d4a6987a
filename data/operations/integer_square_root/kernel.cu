#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void require(cudaError_t err, const char* what) {
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
    ok = fclose(f) == 0 && ok;
    return ok;
}

static const int N = 16000;

// A float32 root can be off by a little; it is corrected in integers.
__device__ unsigned int isqrt_estimate(unsigned int v) {
    unsigned int s = min((unsigned int)sqrtf((float)v), 65535u);
    while (s * s > v) --s;
    while (s < 65535u && (s + 1) * (s + 1) <= v) ++s;
    return s;
}

__global__ void isqrt_strided(const unsigned int* __restrict__ value, unsigned int* __restrict__ root,
                              unsigned int* __restrict__ rest, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned int v = value[i];
        const unsigned int s = isqrt_estimate(v);
        root[i] = s;
        rest[i] = v - s * s;
    }
}

int main() {
    std::vector<unsigned int> h_value(N);
    std::vector<unsigned int> h_root(N);
    std::vector<unsigned int> h_rest(N);
    if (!read_file("data/value.bin", h_value.data(), N * sizeof(unsigned int))) {
        fprintf(stderr, "cannot read data/value.bin\n");
        return 1;
    }

    unsigned int *d_value, *d_root, *d_rest;
    require(cudaMalloc(&d_value, N * sizeof(unsigned int)), "cudaMalloc value");
    require(cudaMalloc(&d_root, N * sizeof(unsigned int)), "cudaMalloc root");
    require(cudaMalloc(&d_rest, N * sizeof(unsigned int)), "cudaMalloc rest");
    require(cudaMemcpy(d_value, h_value.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice), "copy value");

    isqrt_strided<<<min((N + 256 - 1) / 256, 2048), 256>>>(d_value, d_root, d_rest, N);
    require(cudaGetLastError(), "launch");
    require(cudaMemcpy(h_root.data(), d_root, N * sizeof(unsigned int), cudaMemcpyDeviceToHost), "download");
    require(cudaMemcpy(h_rest.data(), d_rest, N * sizeof(unsigned int), cudaMemcpyDeviceToHost), "copy back");

    if (!write_file("data/root.bin", h_root.data(), N * sizeof(unsigned int))) {
        fprintf(stderr, "cannot write data/root.bin\n");
        return 1;
    }
    if (!write_file("data/rest.bin", h_rest.data(), N * sizeof(unsigned int))) {
        fprintf(stderr, "cannot write data/rest.bin\n");
        return 1;
    }
    cudaFree(d_value);
    cudaFree(d_root);
    cudaFree(d_rest);
    return 0;
}
