#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define SIDE 9
#define SLOTS 12
#define N (SIDE * SIDE * SIDE)
#define LANES 8
#define BLOCK 128

// Position and charge in one float4, so that a neighbour costs a single 16-byte load.
__global__ void pack_particles(const float* position, const float* charge, float4* packed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) packed[i] = make_float4(position[3 * i], position[3 * i + 1], position[3 * i + 2], charge[i]);
}

__device__ float image(float d) {
    return d - SIDE * rintf(d * (1.0f / SIDE));
}

// Eight lanes share the list of a particle.
__global__ void yukawa_lanes(const float4* __restrict__ packed, const int* __restrict__ neighbor,
                             float* __restrict__ force, float* __restrict__ potential) {
    int i = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (i < N) {
        float4 own = packed[i];
        for (int k = lane; k < SLOTS; k += LANES) {
            int j = neighbor[i * SLOTS + k];
            if (j >= 0) {
                float4 other = packed[j];
                float dx = image(own.x - other.x), dy = image(own.y - other.y), dz = image(own.z - other.z);
                float square = dx * dx + dy * dy + dz * dz + 0.01f;
                float inverse = rsqrtf(square), r = square * inverse;
                float e = own.w * other.w * __expf(-r) * inverse;
                float f = e * (1.0f + r) * inverse * inverse;
                sum[0] += f * dx;
                sum[1] += f * dy;
                sum[2] += f * dz;
                sum[3] += e;
            }
        }
    }
    for (int c = 0; c < 4; ++c) {
        for (int d = LANES / 2; d > 0; d /= 2) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], d);
    }
    if (i < N && lane < 3) force[3 * i + lane] = sum[lane];
    if (i < N && lane == 3) potential[i] = sum[3];
}

int main() {
    std::vector<float> host_position(N * 3);
    std::vector<float> host_charge(N);
    std::vector<int> host_neighbor(N * SLOTS);
    std::vector<float> host_force(N * 3);
    std::vector<float> host_potential(N);
    FILE* f0 = fopen("data/position.bin", "rb");
    if (!f0 || fread(host_position.data(), sizeof(float), N * 3, f0) != N * 3) return 1;
    FILE* f1 = fopen("data/charge.bin", "rb");
    if (!f1 || fread(host_charge.data(), sizeof(float), N, f1) != N) return 1;
    FILE* f2 = fopen("data/neighbor.bin", "rb");
    if (!f2 || fread(host_neighbor.data(), sizeof(int), N * SLOTS, f2) != N * SLOTS) return 1;
    fclose(f0); fclose(f1); fclose(f2);
    float* d_position = nullptr;
    float* d_charge = nullptr;
    int* d_neighbor = nullptr;
    float* d_force = nullptr;
    float* d_potential = nullptr;
    float4* d_packed = nullptr;
    cudaMalloc(&d_position, N * 3 * sizeof(float));
    cudaMalloc(&d_charge, N * sizeof(float));
    cudaMalloc(&d_neighbor, N * SLOTS * sizeof(int));
    cudaMalloc(&d_force, N * 3 * sizeof(float));
    cudaMalloc(&d_potential, N * sizeof(float));
    cudaMalloc(&d_packed, N * sizeof(float4));
    cudaMemcpy(d_position, host_position.data(), N * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_charge, host_charge.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_neighbor, host_neighbor.data(), N * SLOTS * sizeof(int), cudaMemcpyHostToDevice);
    pack_particles<<<(N + 255) / 256, 256>>>(d_position, d_charge, d_packed);
    int per_block = BLOCK / LANES;
    yukawa_lanes<<<(N + per_block - 1) / per_block, BLOCK>>>(d_packed, d_neighbor, d_force, d_potential);
    cudaMemcpy(host_force.data(), d_force, N * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_potential.data(), d_potential, N * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/force.bin", "wb");
    fwrite(host_force.data(), sizeof(float), N * 3, o0);
    fclose(o0);
    FILE* o1 = fopen("data/potential.bin", "wb");
    fwrite(host_potential.data(), sizeof(float), N, o1);
    fclose(o1);
    cudaFree(d_position); cudaFree(d_charge); cudaFree(d_neighbor); cudaFree(d_force);
    cudaFree(d_potential); cudaFree(d_packed);
}
