#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>

void load_bin(const std::string& path, void* buf, size_t size) {
    FILE* f = fopen(path.c_str(), "rb");
    if (f == nullptr || fread(buf, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void store_bin(const std::string& path, const void* buf, size_t size) {
    FILE* f = fopen(path.c_str(), "wb");
    if (f == nullptr || fwrite(buf, 1, size, f) != size) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int RINGS = 25;
constexpr int CELLS = 150;
constexpr int TOTAL = RINGS * CELLS;
constexpr int STEPS = 16;

inline int div_up(int a, int b) {
    return (a + b - 1) / b;
}

__global__ void lax_wendroff(const float* u, const float* courant, float* next) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= TOTAL) return;
    int ring = k / CELLS;
    int i = k % CELLS;
    const float* row = u + ring * CELLS;
    float left = row[(i + CELLS - 1) % CELLS];
    float right = row[(i + 1) % CELLS];
    float c = courant[ring];
    next[k] = row[i] - 0.5f * c * (right - left) + 0.5f * c * c * (right - 2.0f * row[i] + left);
}

int main() {
    float* h_density = new float[TOTAL];
    float* h_courant = new float[RINGS];
    float* h_advected = new float[TOTAL];
    load_bin("data/density.bin", h_density, TOTAL * sizeof(float));
    load_bin("data/courant.bin", h_courant, RINGS * sizeof(float));

    float *d_density, *d_courant, *d_advected, *d_half;
    cudaMalloc(&d_density, TOTAL * sizeof(float));
    cudaMemcpy(d_density, h_density, TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_courant, RINGS * sizeof(float));
    cudaMemcpy(d_courant, h_courant, RINGS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_advected, TOTAL * sizeof(float));
    cudaMalloc(&d_half, TOTAL * sizeof(float));

    int blocks = div_up(TOTAL, 256);
    lax_wendroff<<<blocks, 256>>>(d_density, d_courant, d_half);
    for (int s = 1; s < STEPS; ++s) {
        if (s % 2 == 1) lax_wendroff<<<blocks, 256>>>(d_half, d_courant, d_advected);
        else lax_wendroff<<<blocks, 256>>>(d_advected, d_courant, d_half);
    }
    cudaMemcpy(h_advected, d_advected, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);

    store_bin("data/advected.bin", h_advected, TOTAL * sizeof(float));

    cudaFree(d_density);
    cudaFree(d_courant);
    cudaFree(d_advected);
    cudaFree(d_half);
    delete[] h_density;
    delete[] h_courant;
    delete[] h_advected;
    return 0;
}
