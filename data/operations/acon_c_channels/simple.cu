#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static inline void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool read_file(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) return false;
    const size_t got = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return got == v.size();
}

bool write_file(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr) return false;
    bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
    fclose(f);
    return ok;
}

constexpr int kBatch = 2;
constexpr int kChannels = 10;
constexpr int kPlane = 1000;
constexpr int kSize = kBatch * kChannels * kPlane;

__global__ void acon_c(const float* x, const float* p1, const float* p2, const float* beta, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = (i / kPlane) % kChannels;
        float v = x[i];
        float d = (p1[c] - p2[c]) * v;
        y[i] = d / (1.0f + expf(-beta[c] * d)) + p2[c] * v;
    }
}

int main() {
    std::vector<float> x(kSize);
    std::vector<float> p1(kChannels);
    std::vector<float> p2(kChannels);
    std::vector<float> beta(kChannels);
    std::vector<float> y(kSize);
    if (!read_file("data/x.bin", x) ||
        !read_file("data/p1.bin", p1) ||
        !read_file("data/p2.bin", p2) ||
        !read_file("data/beta.bin", beta)) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    float *d_x, *d_p1, *d_p2, *d_beta, *d_y;
    checkCuda(cudaMalloc(&d_x, kSize * sizeof(float)), "cudaMalloc x");
    checkCuda(cudaMalloc(&d_p1, kChannels * sizeof(float)), "cudaMalloc p1");
    checkCuda(cudaMalloc(&d_p2, kChannels * sizeof(float)), "cudaMalloc p2");
    checkCuda(cudaMalloc(&d_beta, kChannels * sizeof(float)), "cudaMalloc beta");
    checkCuda(cudaMalloc(&d_y, kSize * sizeof(float)), "cudaMalloc y");
    checkCuda(cudaMemcpy(d_x, x.data(), kSize * sizeof(float), cudaMemcpyHostToDevice), "memcpy x");
    checkCuda(cudaMemcpy(d_p1, p1.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice), "copy p1");
    checkCuda(cudaMemcpy(d_p2, p2.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice), "memcpy p2");
    checkCuda(cudaMemcpy(d_beta, beta.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice), "copy beta");

    const int threads = 256;
    const int blocks = (kSize + threads - 1) / threads;
    acon_c<<<blocks, threads>>>(d_x, d_p1, d_p2, d_beta, d_y, kSize);
    checkCuda(cudaGetLastError(), "kernel launch");
    checkCuda(cudaMemcpy(y.data(), d_y, kSize * sizeof(float), cudaMemcpyDeviceToHost), "result");
    if (!write_file("data/y.bin", y)) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_p1);
    cudaFree(d_p2);
    cudaFree(d_beta);
    cudaFree(d_y);
    return 0;
}
