#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 500;
constexpr int kM = 100;
const int kTile = 128;

// The charges pass through shared memory in tiles of one per thread.
__global__ void coulomb_tiles(const float4* __restrict__ sources, const float* __restrict__ targets,
                              float* __restrict__ potential, float* __restrict__ field) {
    __shared__ float4 charge[kTile];
    int i = blockIdx.x * kTile + threadIdx.x;
    float3 at = make_float3(0.0f, 0.0f, 0.0f);
    if (i < kN) at = make_float3(targets[3 * i], targets[3 * i + 1], targets[3 * i + 2]);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int start = 0; start < kM; start += kTile) {
        int j = start + threadIdx.x;
        charge[threadIdx.x] = j < kM ? sources[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) {
            float4 c = charge[k];
            float dx = at.x - c.x, dy = at.y - c.y, dz = at.z - c.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float p = c.w * inv;
            float e = p * inv * inv;
            sum.x += e * dx;
            sum.y += e * dy;
            sum.z += e * dz;
            sum.w += p;
        }
        __syncthreads();
    }
    if (i < kN) {
        potential[i] = sum.w;
        field[3 * i] = sum.x;
        field[3 * i + 1] = sum.y;
        field[3 * i + 2] = sum.z;
    }
}

void solve(const float* d_sources, const float* d_targets, float* d_potential, float* d_field) {
    coulomb_tiles<<<(kN + kTile - 1) / kTile, kTile>>>((const float4*)d_sources, d_targets, d_potential, d_field);
}

int main() {
    std::vector<float> sources(kM * 4);
    std::vector<float> targets(kN * 3);
    std::vector<float> potential(kN);
    std::vector<float> field(kN * 3);
    FILE* f = fopen("data/sources.bin", "rb");
    if (!f || fread(sources.data(), sizeof(float), sources.size(), f) != sources.size()) {
        fprintf(stderr, "cannot read data/sources.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/targets.bin", "rb");
    if (!f || fread(targets.data(), sizeof(float), targets.size(), f) != targets.size()) {
        fprintf(stderr, "cannot read data/targets.bin\n");
        return 1;
    }
    fclose(f);

    float *d_sources, *d_targets, *d_potential, *d_field;
    cudaMalloc(&d_sources, kM * 4 * sizeof(float));
    cudaMalloc(&d_targets, kN * 3 * sizeof(float));
    cudaMalloc(&d_potential, kN * sizeof(float));
    cudaMalloc(&d_field, kN * 3 * sizeof(float));
    cudaMemcpy(d_sources, sources.data(), kM * 4 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_targets, targets.data(), kN * 3 * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_sources, d_targets, d_potential, d_field);

    cudaMemcpy(potential.data(), d_potential, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(field.data(), d_field, kN * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/potential.bin", "wb");
    fwrite(potential.data(), sizeof(float), potential.size(), f);
    fclose(f);
    f = fopen("data/field.bin", "wb");
    fwrite(field.data(), sizeof(float), field.size(), f);
    fclose(f);

    cudaFree(d_sources);
    cudaFree(d_targets);
    cudaFree(d_potential);
    cudaFree(d_field);
    return 0;
}
