#include <cstdio>
#include <cuda_runtime.h>

const int ATOMS = 1000;
const int NBONDS = 3000;

__global__ void morse(const float* positions, const int* bonds, const float* constants,
                      float* forces, float* energy) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= NBONDS) return;
    int i = bonds[2 * b];
    int j = bonds[2 * b + 1];
    float depth = constants[3 * b];
    float a = constants[3 * b + 1];
    float r0 = constants[3 * b + 2];
    float dx = positions[3 * i] - positions[3 * j];
    float dy = positions[3 * i + 1] - positions[3 * j + 1];
    float dz = positions[3 * i + 2] - positions[3 * j + 2];
    float r = sqrtf(dx * dx + dy * dy + dz * dz);
    float e = expf(-a * (r - r0));
    float f = -2.0f * depth * a * e * (1.0f - e) / r;
    energy[b] = depth * (1.0f - e) * (1.0f - e);
    atomicAdd(&forces[3 * i], f * dx);
    atomicAdd(&forces[3 * i + 1], f * dy);
    atomicAdd(&forces[3 * i + 2], f * dz);
    atomicAdd(&forces[3 * j], -f * dx);
    atomicAdd(&forces[3 * j + 1], -f * dy);
    atomicAdd(&forces[3 * j + 2], -f * dz);
}

int main() {
    float* positions;
    int* bonds;
    float* constants;
    float* forces;
    float* energy;
    cudaMallocManaged(&positions, ATOMS * 3 * sizeof(float));
    cudaMallocManaged(&bonds, NBONDS * 2 * sizeof(int));
    cudaMallocManaged(&constants, NBONDS * 3 * sizeof(float));
    cudaMallocManaged(&forces, ATOMS * 3 * sizeof(float));
    cudaMallocManaged(&energy, NBONDS * sizeof(float));

    FILE* f = fopen("data/positions.bin", "rb");
    if (!f || fread(positions, sizeof(float), ATOMS * 3, f) != (ATOMS * 3)) {
        fprintf(stderr, "cannot read data/positions.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/bonds.bin", "rb");
    if (!f || fread(bonds, sizeof(int), NBONDS * 2, f) != (NBONDS * 2)) {
        fprintf(stderr, "cannot read data/bonds.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/constants.bin", "rb");
    if (!f || fread(constants, sizeof(float), NBONDS * 3, f) != (NBONDS * 3)) {
        fprintf(stderr, "cannot read data/constants.bin\n");
        return 1;
    }
    fclose(f);

    cudaMemset(forces, 0, sizeof(float) * ATOMS * 3);
    morse<<<(NBONDS + 256 - 1) / 256, 256>>>(positions, bonds, constants, forces, energy);

    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(status));
        return 1;
    }

    f = fopen("data/forces.bin", "wb");
    fwrite(forces, sizeof(float), ATOMS * 3, f);
    fclose(f);
    f = fopen("data/energy.bin", "wb");
    fwrite(energy, sizeof(float), NBONDS, f);
    fclose(f);

    cudaFree(positions);
    cudaFree(bonds);
    cudaFree(constants);
    cudaFree(forces);
    cudaFree(energy);
    return 0;
}
