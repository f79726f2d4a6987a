#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, void* buffer, size_t bytes) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(buffer, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void save_array(const std::string& path, const void* buffer, size_t bytes) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(buffer, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

const int ATOMS = 1000;
const int NBONDS = 3000;

// First pass: energy and force of each bond, and the bond's two ends are linked to their atoms.
__global__ void bond_pass(const float* __restrict__ positions, const int2* __restrict__ bonds,
                          const float* __restrict__ constants, float* __restrict__ energy,
                          float* __restrict__ bond_force, int* head, int* next) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= NBONDS) return;
    int2 ends = bonds[b];
    const float* p = positions + 3 * ends.x;
    const float* q = positions + 3 * ends.y;
    float dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
    float r = sqrtf(dx * dx + dy * dy + dz * dz);
    float depth = constants[3 * b], a = constants[3 * b + 1];
    float e = expf(a * (constants[3 * b + 2] - r));
    float stretch = 1.0f - e;
    float f = -2.0f * depth * a * e * stretch / r;
    energy[b] = depth * stretch * stretch;
    bond_force[3 * b] = f * dx;
    bond_force[3 * b + 1] = f * dy;
    bond_force[3 * b + 2] = f * dz;
    next[2 * b] = atomicExch(head + ends.x, 2 * b);
    next[2 * b + 1] = atomicExch(head + ends.y, 2 * b + 1);
}

// Second pass: each atom walks through its list; odd entries are second ends and count with the opposite sign.
__global__ void atom_pass(const float* __restrict__ bond_force, const int* __restrict__ head,
                          const int* __restrict__ next, float* __restrict__ forces) {
    int atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= ATOMS) return;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int end = head[atom]; end >= 0; end = next[end]) {
        float sign = end % 2 ? -1.0f : 1.0f;
        const float* f = bond_force + 3 * (end / 2);
        x += sign * f[0];
        y += sign * f[1];
        z += sign * f[2];
    }
    forces[3 * atom] = x;
    forces[3 * atom + 1] = y;
    forces[3 * atom + 2] = z;
}

int main() {
    float* positions = (float*)malloc(sizeof(float) * ATOMS * 3);
    int* bonds = (int*)malloc(sizeof(int) * NBONDS * 2);
    float* constants = (float*)malloc(sizeof(float) * NBONDS * 3);
    float* forces = (float*)malloc(sizeof(float) * ATOMS * 3);
    float* energy = (float*)malloc(sizeof(float) * NBONDS);
    load_array("data/positions.bin", positions, sizeof(float) * ATOMS * 3);
    load_array("data/bonds.bin", bonds, sizeof(int) * NBONDS * 2);
    load_array("data/constants.bin", constants, sizeof(float) * NBONDS * 3);

    float *d_positions, *d_constants, *d_forces, *d_energy, *d_bond_force;
    int *d_bonds, *d_head, *d_next;
    cudaMalloc(&d_positions, sizeof(float) * ATOMS * 3);
    cudaMalloc(&d_bonds, sizeof(int) * NBONDS * 2);
    cudaMalloc(&d_constants, sizeof(float) * NBONDS * 3);
    cudaMalloc(&d_forces, sizeof(float) * ATOMS * 3);
    cudaMalloc(&d_energy, sizeof(float) * NBONDS);
    cudaMalloc(&d_bond_force, sizeof(float) * 3 * NBONDS);
    cudaMalloc(&d_head, sizeof(int) * ATOMS);
    cudaMalloc(&d_next, sizeof(int) * 2 * NBONDS);
    cudaMemcpy(d_positions, positions, sizeof(float) * ATOMS * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(d_bonds, bonds, sizeof(int) * NBONDS * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(d_constants, constants, sizeof(float) * NBONDS * 3, cudaMemcpyHostToDevice);

    cudaMemset(d_head, 0xff, sizeof(int) * ATOMS);
    bond_pass<<<DIV_UP(NBONDS, 256), 256>>>(d_positions, (const int2*)d_bonds, d_constants,
                                          d_energy, d_bond_force, d_head, d_next);
    atom_pass<<<DIV_UP(ATOMS, 256), 256>>>(d_bond_force, d_head, d_next, d_forces);
    cudaDeviceSynchronize();

    cudaMemcpy(forces, d_forces, sizeof(float) * ATOMS * 3, cudaMemcpyDeviceToHost);
    cudaMemcpy(energy, d_energy, sizeof(float) * NBONDS, cudaMemcpyDeviceToHost);
    save_array("data/forces.bin", forces, sizeof(float) * ATOMS * 3);
    save_array("data/energy.bin", energy, sizeof(float) * NBONDS);

    cudaFree(d_positions);
    cudaFree(d_bonds);
    cudaFree(d_constants);
    cudaFree(d_forces);
    cudaFree(d_energy);
    cudaFree(d_bond_force);
    cudaFree(d_head);
    cudaFree(d_next);
    free(positions);
    free(bonds);
    free(constants);
    free(forces);
    free(energy);
    return 0;
}
