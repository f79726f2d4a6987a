#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int CELLS = 5000;
constexpr int THREADS = 256;

// Mach^2 = m^2 / (1.4 p rho): one square root and one division instead of two of each.
__global__ void primitive(const float* __restrict__ density, const float* __restrict__ mx,
                          const float* __restrict__ my, const float* __restrict__ energy,
                          float* __restrict__ p_out, float* __restrict__ mach_out) {
    const int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < CELLS; i += step) {
        float rho = fmaxf(density[i], 0.01f);
        float square = mx[i] * mx[i] + my[i] * my[i];
        float p = fmaxf(0.4f * (energy[i] - 0.5f * square / rho), 0.001f);
        p_out[i] = p;
        mach_out[i] = sqrtf(square / (1.4f * p * rho));
    }
}

void run(const float* d_conserved, float* d_pressure, float* d_mach) {
    const float* rho = d_conserved;
    primitive<<<512, THREADS>>>(rho, rho + CELLS, rho + 2 * CELLS, rho + 3 * CELLS, d_pressure, d_mach);
}

int main() {
    std::vector<float> h_conserved(4 * CELLS);
    std::vector<float> h_pressure(CELLS);
    std::vector<float> h_mach(CELLS);
    FILE* file0 = fopen("data/conserved.bin", "rb");
    if (!file0 || fread(h_conserved.data(), sizeof(float), h_conserved.size(), file0) != h_conserved.size()) {
        fprintf(stderr, "cannot read data/conserved.bin\n");
        return 1;
    }
    fclose(file0);

    float *d_conserved, *d_pressure, *d_mach;
    cudaMalloc(&d_conserved, 4 * CELLS * sizeof(float));
    cudaMemcpy(d_conserved, h_conserved.data(), 4 * CELLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_pressure, CELLS * sizeof(float));
    cudaMalloc(&d_mach, CELLS * sizeof(float));
    run(d_conserved, d_pressure, d_mach);
    cudaMemcpy(h_pressure.data(), d_pressure, CELLS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_mach.data(), d_mach, CELLS * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/pressure.bin", "wb");
    fwrite(h_pressure.data(), sizeof(float), h_pressure.size(), out0);
    fclose(out0);
    FILE* out1 = fopen("data/mach.bin", "wb");
    fwrite(h_mach.data(), sizeof(float), h_mach.size(), out1);
    fclose(out1);

    cudaFree(d_conserved);
    cudaFree(d_pressure);
    cudaFree(d_mach);
    return 0;
}
