#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int HEIGHT = 90;
constexpr int WIDTH = 120;

inline void checkCuda(cudaError_t e, const char* where) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(e));
        exit(1);
    }
}

static bool readBin(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) {
        return false;
    }
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool writeBin(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

__global__ void to_ycocg(const unsigned char* rgb, unsigned char* luma, int* co, int* cg, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        int orange = r - b;
        int t = b + (orange >> 1);
        int green = g - t;
        luma[i] = (unsigned char)(t + (green >> 1));
        co[i] = orange;
        cg[i] = green;
    }
}

int main() {
    const size_t num_rgb = (size_t)HEIGHT * WIDTH * 3;
    const size_t num_luma = (size_t)HEIGHT * WIDTH;
    std::vector<unsigned char> host_rgb(num_rgb);
    std::vector<unsigned char> host_luma(num_luma);
    std::vector<int> host_co(num_luma);
    std::vector<int> host_cg(num_luma);
    if (!readBin("data/rgb.bin", host_rgb.data(), num_rgb * sizeof(unsigned char))) {
        fprintf(stderr, "cannot read rgb\n");
        return 1;
    }

    unsigned char* d_rgb = nullptr;
    checkCuda(cudaMalloc(&d_rgb, num_rgb * sizeof(unsigned char)), "malloc rgb");
    unsigned char* d_luma = nullptr;
    checkCuda(cudaMalloc(&d_luma, num_luma * sizeof(unsigned char)), "malloc luma");
    int* d_co = nullptr;
    checkCuda(cudaMalloc(&d_co, num_luma * sizeof(int)), "malloc co");
    int* d_cg = nullptr;
    checkCuda(cudaMalloc(&d_cg, num_luma * sizeof(int)), "malloc cg");
    checkCuda(cudaMemcpy(d_rgb, host_rgb.data(), num_rgb * sizeof(unsigned char), cudaMemcpyHostToDevice),
            "copy rgb");

    const int pixels = HEIGHT * WIDTH;
    to_ycocg<<<(pixels + 255) / 256, 256>>>(d_rgb, d_luma, d_co, d_cg, pixels);
    checkCuda(cudaGetLastError(), "launch");

    checkCuda(cudaMemcpy(host_luma.data(), d_luma, num_luma * sizeof(unsigned char), cudaMemcpyDeviceToHost),
            "copy luma");
    checkCuda(cudaMemcpy(host_co.data(), d_co, num_luma * sizeof(int), cudaMemcpyDeviceToHost), "copy co");
    checkCuda(cudaMemcpy(host_cg.data(), d_cg, num_luma * sizeof(int), cudaMemcpyDeviceToHost), "copy cg");
    if (!writeBin("data/luma.bin", host_luma.data(), num_luma * sizeof(unsigned char))) return 1;
    if (!writeBin("data/co.bin", host_co.data(), num_luma * sizeof(int))) return 1;
    if (!writeBin("data/cg.bin", host_cg.data(), num_luma * sizeof(int))) return 1;
    cudaFree(d_rgb);
    cudaFree(d_luma);
    cudaFree(d_co);
    cudaFree(d_cg);
    return 0;
}
