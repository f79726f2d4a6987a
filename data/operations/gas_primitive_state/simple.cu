#include <cuda_runtime.h>
#include <cstdlib>
#include <vector>
#include <cstdio>

constexpr int kCells = 5000;

inline void verify(cudaError_t e, const char* msg) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e));
        exit(1);
    }
}

bool read_all(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return got == v.size();
}

bool write_all(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return put == v.size();
}

__global__ void gas_state(const float* conserved, float* pressure, float* mach) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kCells) return;
    float rho = fmaxf(conserved[i], 0.01f);
    float mx = conserved[kCells + i];
    float my = conserved[2 * kCells + i];
    float energy = conserved[3 * kCells + i];
    float p = 0.4f * (energy - (mx * mx + my * my) / (2.0f * rho));
    p = fmaxf(p, 0.001f);
    float sound = sqrtf(1.4f * p / rho);
    float speed = sqrtf(mx * mx + my * my) / rho;
    pressure[i] = p;
    mach[i] = speed / sound;
}

int main() {
    std::vector<float> conserved(4 * kCells);
    std::vector<float> pressure(kCells);
    std::vector<float> mach(kCells);
    if (!read_all("data/conserved.bin", conserved)) {
        fprintf(stderr, "cannot read data/conserved.bin\n");
        return 1;
    }

    float* conserved_d;
    float* pressure_d;
    float* mach_d;
    verify(cudaMalloc(&conserved_d, 4 * kCells * sizeof(float)), "device memory for conserved");
    verify(cudaMalloc(&pressure_d, kCells * sizeof(float)), "device memory for pressure");
    verify(cudaMalloc(&mach_d, kCells * sizeof(float)), "device memory for mach");
    verify(cudaMemcpy(conserved_d, conserved.data(), 4 * kCells * sizeof(float), cudaMemcpyHostToDevice),
            "copy conserved");

    gas_state<<<(kCells + 255) / 256, 256>>>(conserved_d, pressure_d, mach_d);
    verify(cudaGetLastError(), "kernel launch");
    verify(cudaDeviceSynchronize(), "kernel");
    verify(cudaMemcpy(pressure.data(), pressure_d, kCells * sizeof(float), cudaMemcpyDeviceToHost),
            "copy pressure back");
    verify(cudaMemcpy(mach.data(), mach_d, kCells * sizeof(float), cudaMemcpyDeviceToHost), "copy mach back");

    cudaFree(conserved_d);
    cudaFree(pressure_d);
    cudaFree(mach_d);

    if (!write_all("data/pressure.bin", pressure)) {
        fprintf(stderr, "cannot write data/pressure.bin\n");
        return 1;
    }
    if (!write_all("data/mach.bin", mach)) return 1;
    return 0;
}
