#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define LEVELS 2
#define LATS 40
#define LONS 72
#define TOTAL (LEVELS * LATS * LONS)

__global__ void geostrophic(const float* height, const float* coriolis, const float* spacing, float* u,
        float* v) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= TOTAL) return;
    int i = k % LONS;
    int j = k / LONS % LATS;
    int east = i == LONS - 1 ? k - i : k + 1;
    int west = i == 0 ? k + LONS - 1 : k - 1;
    int north = j == LATS - 1 ? k : k + LONS;
    int south = j == 0 ? k : k - LONS;
    float dy = (j == 0 || j == LATS - 1) ? 111000.0f : 222000.0f;
    float factor = 9.81f / coriolis[j];
    u[k] = -factor * (height[north] - height[south]) / dy;
    v[k] = factor * (height[east] - height[west]) / (2.0f * spacing[j]);
}

void launch(const float* d_height, const float* d_coriolis, const float* d_spacing, float* d_u, float* d_v) {
    const int threads = 256;
    geostrophic<<<(TOTAL + threads - 1) / threads, threads>>>(d_height, d_coriolis, d_spacing, d_u, d_v);
}

int main() {
    std::vector<float> h_height(TOTAL), h_coriolis(LATS), h_spacing(LATS), h_u(TOTAL), h_v(TOTAL);
    FILE* fin0 = fopen("data/height.bin", "rb");
    if (!fin0 || fread(h_height.data(), sizeof(float), h_height.size(), fin0) != h_height.size()) {
        fprintf(stderr, "cannot read data/height.bin\n");
        return 1;
    }
    fclose(fin0);
    FILE* fin1 = fopen("data/coriolis.bin", "rb");
    if (!fin1 || fread(h_coriolis.data(), sizeof(float), h_coriolis.size(), fin1) != h_coriolis.size()) {
        fprintf(stderr, "cannot read data/coriolis.bin\n");
        return 1;
    }
    fclose(fin1);
    FILE* fin2 = fopen("data/spacing.bin", "rb");
    if (!fin2 || fread(h_spacing.data(), sizeof(float), h_spacing.size(), fin2) != h_spacing.size()) {
        fprintf(stderr, "cannot read data/spacing.bin\n");
        return 1;
    }
    fclose(fin2);

    float* d_height = nullptr;
    float* d_coriolis = nullptr;
    float* d_spacing = nullptr;
    float* d_u = nullptr;
    float* d_v = nullptr;
    cudaMalloc(&d_height, TOTAL * sizeof(float));
    cudaMemcpy(d_height, h_height.data(), TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_coriolis, LATS * sizeof(float));
    cudaMemcpy(d_coriolis, h_coriolis.data(), LATS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_spacing, LATS * sizeof(float));
    cudaMemcpy(d_spacing, h_spacing.data(), LATS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_u, TOTAL * sizeof(float));
    cudaMalloc(&d_v, TOTAL * sizeof(float));
    launch(d_height, d_coriolis, d_spacing, d_u, d_v);
    cudaMemcpy(h_u.data(), d_u, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_v.data(), d_v, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/u.bin", "wb");
    fwrite(h_u.data(), sizeof(float), h_u.size(), out0);
    fclose(out0);
    FILE* out1 = fopen("data/v.bin", "wb");
    fwrite(h_v.data(), sizeof(float), h_v.size(), out1);
    fclose(out1);

    cudaFree(d_height);
    cudaFree(d_coriolis);
    cudaFree(d_spacing);
    cudaFree(d_u);
    cudaFree(d_v);
}
