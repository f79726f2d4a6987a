#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <cuda_runtime.h>

void load_raw(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void save_raw(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

constexpr int MAPS = 5;
constexpr int POINTS = 1200;

__global__ void moebius(const float* z, const float* coef, float* w) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y;
    if (p < POINTS) {
        const float* k = coef + m * 8;
        float x = z[2 * p], y = z[2 * p + 1];
        float nr = k[0] * x - k[1] * y + k[2];
        float ni = k[0] * y + k[1] * x + k[3];
        float dr = k[4] * x - k[5] * y + k[6];
        float di = k[4] * y + k[5] * x + k[7];
        float norm = dr * dr + di * di;
        size_t at = 2 * ((size_t)m * POINTS + p);
        w[at] = (nr * dr + ni * di) / norm;
        w[at + 1] = (ni * dr - nr * di) / norm;
    }
}

int main(void) {
    const int n_z = POINTS * 2;
    const int coef_size = MAPS * 8;
    const int w_size = MAPS * POINTS * 2;
    float* z = (float*)malloc(n_z * sizeof(float));
    float* coef = (float*)malloc(coef_size * sizeof(float));
    float* w = (float*)malloc(w_size * sizeof(float));
    load_raw("data/z.bin", z, n_z * sizeof(float));
    load_raw("data/coef.bin", coef, coef_size * sizeof(float));

    float *d_z, *d_coef, *d_w;
    cudaMalloc(&d_z, n_z * sizeof(float));
    cudaMemcpy(d_z, z, n_z * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_coef, coef_size * sizeof(float));
    cudaMemcpy(d_coef, coef, coef_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_w, w_size * sizeof(float));

    dim3 grid(DIV_UP(POINTS, 256), MAPS);
    moebius<<<grid, 256>>>(d_z, d_coef, d_w);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    cudaMemcpy(w, d_w, w_size * sizeof(float), cudaMemcpyDeviceToHost);
    save_raw("data/w.bin", w, w_size * sizeof(float));

    cudaFree(d_z);
    cudaFree(d_coef);
    cudaFree(d_w);
    free(z);
    free(coef);
    free(w);
    return 0;
}
