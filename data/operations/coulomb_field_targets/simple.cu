#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 500;
constexpr int kM = 100;

inline void checkCuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

bool load_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool store_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(src, 1, bytes, f);
    fclose(f);
    return put == bytes;
}

__global__ void coulomb(const float* sources, const float* targets, float* potential, float* field) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    float x = targets[3 * i], y = targets[3 * i + 1], z = targets[3 * i + 2];
    float p = 0.0f, ex = 0.0f, ey = 0.0f, ez = 0.0f;
    for (int j = 0; j < kM; ++j) {
        float dx = x - sources[4 * j];
        float dy = y - sources[4 * j + 1];
        float dz = z - sources[4 * j + 2];
        float q = sources[4 * j + 3];
        float s2 = dx * dx + dy * dy + dz * dz + 0.01f;
        float s = sqrtf(s2);
        float scale = q / (s2 * s);
        p += q / s;
        ex += scale * dx;
        ey += scale * dy;
        ez += scale * dz;
    }
    potential[i] = p;
    field[3 * i] = ex;
    field[3 * i + 1] = ey;
    field[3 * i + 2] = ez;
}

int main() {
    std::vector<float> sources(kM * 4);
    std::vector<float> targets(kN * 3);
    std::vector<float> potential(kN);
    std::vector<float> field(kN * 3);
    if (!load_file("data/sources.bin", sources.data(), sizeof(float) * kM * 4)) {
        fprintf(stderr, "cannot read data/sources.bin\n");
        return 1;
    }
    if (!load_file("data/targets.bin", targets.data(), sizeof(float) * kN * 3)) {
        fprintf(stderr, "cannot read data/targets.bin\n");
        return 1;
    }

    float *d_sources, *d_targets, *d_potential, *d_field;
    checkCuda(cudaMalloc(&d_sources, sizeof(float) * kM * 4), "malloc sources");
    checkCuda(cudaMalloc(&d_targets, sizeof(float) * kN * 3), "cudaMalloc");
    checkCuda(cudaMalloc(&d_potential, sizeof(float) * kN), "malloc potential");
    checkCuda(cudaMalloc(&d_field, sizeof(float) * kN * 3), "malloc field");
    checkCuda(cudaMemcpy(d_sources, sources.data(), sizeof(float) * kM * 4, cudaMemcpyHostToDevice),
              "copy sources");
    checkCuda(cudaMemcpy(d_targets, targets.data(), sizeof(float) * kN * 3, cudaMemcpyHostToDevice),
              "copy targets");

    const int threads = 128;
    coulomb<<<(kN + threads - 1) / threads, threads>>>(d_sources, d_targets, d_potential, d_field);
    checkCuda(cudaGetLastError(), "kernel launch");

    checkCuda(cudaMemcpy(potential.data(), d_potential, sizeof(float) * kN, cudaMemcpyDeviceToHost),
              "copy potential");
    checkCuda(cudaMemcpy(field.data(), d_field, sizeof(float) * kN * 3, cudaMemcpyDeviceToHost), "copy field");
    if (!store_file("data/potential.bin", potential.data(), sizeof(float) * kN)) return 1;
    if (!store_file("data/field.bin", field.data(), sizeof(float) * kN * 3)) return 1;

    cudaFree(d_sources);
    cudaFree(d_targets);
    cudaFree(d_potential);
    cudaFree(d_field);
    return 0;
}
