#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

void load_array(const std::string& path, void* dst, size_t size) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.read((char*)dst, size)) {
        std::cerr << "failed to read " << path << "\n";
        std::exit(1);
    }
}

void save_array(const std::string& path, const void* dst, size_t size) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(dst), size);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

constexpr int MOLECULES = 300;
constexpr int ATOMS = 12;
constexpr int WARPS = 4;

__device__ float sum_lanes(float value) {
    for (int d = 16; d > 0; d >>= 1) value += __shfl_xor_sync(0xffffffffu, value, d);
    return value;
}

// A warp a molecule; every lane knows the sums after the butterfly exchange.
__global__ void motion_warp(const float* __restrict__ mass, const float* __restrict__ velocity,
                            float* __restrict__ drift, float* __restrict__ internal) {
    int m = blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (m >= MOLECULES) return;
    const float* w = mass + m * ATOMS;
    const float* v = velocity + 3 * m * ATOMS;
    float total = 0.0f, mean[3] = {0.0f, 0.0f, 0.0f};
    for (int a = lane; a < ATOMS; a += 32) {
        total += w[a];
        for (int c = 0; c < 3; ++c) mean[c] += w[a] * v[3 * a + c];
    }
    total = sum_lanes(total);
    for (int c = 0; c < 3; ++c) mean[c] = sum_lanes(mean[c]) / total;
    float energy = 0.0f;
    for (int a = lane; a < ATOMS; a += 32) {
        for (int c = 0; c < 3; ++c) {
            float d = v[3 * a + c] - mean[c];
            energy += 0.5f * w[a] * d * d;
        }
    }
    energy = sum_lanes(energy);
    if (lane < 3) drift[3 * m + lane] = lane == 0 ? mean[0] : lane == 1 ? mean[1] : mean[2];
    if (lane == 3) internal[m] = energy;
}

int main() {
    std::vector<float> mass(MOLECULES * ATOMS), velocity(MOLECULES * ATOMS * 3), drift(MOLECULES * 3),
            internal(MOLECULES);
    load_array("data/mass.bin", mass.data(), MOLECULES * ATOMS * sizeof(float));
    load_array("data/velocity.bin", velocity.data(), MOLECULES * ATOMS * 3 * sizeof(float));

    float *d_mass, *d_velocity, *d_drift, *d_internal;
    cudaMalloc(&d_mass, MOLECULES * ATOMS * sizeof(float));
    cudaMemcpy(d_mass, mass.data(), MOLECULES * ATOMS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_velocity, MOLECULES * ATOMS * 3 * sizeof(float));
    cudaMemcpy(d_velocity, velocity.data(), MOLECULES * ATOMS * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_drift, MOLECULES * 3 * sizeof(float));
    cudaMalloc(&d_internal, MOLECULES * sizeof(float));

    motion_warp<<<CEIL_DIV(MOLECULES, WARPS), 32 * WARPS>>>(d_mass, d_velocity, d_drift, d_internal);
    cudaDeviceSynchronize();
    cudaMemcpy(drift.data(), d_drift, MOLECULES * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(internal.data(), d_internal, MOLECULES * sizeof(float), cudaMemcpyDeviceToHost);

    save_array("data/drift.bin", drift.data(), MOLECULES * 3 * sizeof(float));
    save_array("data/internal.bin", internal.data(), MOLECULES * sizeof(float));

    cudaFree(d_mass);
    cudaFree(d_velocity);
    cudaFree(d_drift);
    cudaFree(d_internal);
    return 0;
}
