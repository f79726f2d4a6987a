#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

template <typename T>
void readFile(const char* path, T* dst, size_t num) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(dst, 1, num * sizeof(T), f) != num * sizeof(T)) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

template <typename T>
void writeFile(const char* path, const T* dst, size_t num) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(dst, 1, num * sizeof(T), f) != num * sizeof(T)) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int SIDE = 9;
constexpr int SLOTS = 12;
constexpr int N = SIDE * SIDE * SIDE;

__device__ float nearest(float d) {
    if (d > 0.5f * SIDE) return d - SIDE;
    if (d < -0.5f * SIDE) return d + SIDE;
    return d;
}

__global__ void yukawa(const float* position, const float* charge, const int* neighbor,
                       float* force, float* potential) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, sum = 0.0f;
    for (int k = 0; k < SLOTS; ++k) {
        int j = neighbor[i * SLOTS + k];
        if (j < 0) continue;
        float dx = nearest(x - position[3 * j]);
        float dy = nearest(y - position[3 * j + 1]);
        float dz = nearest(z - position[3 * j + 2]);
        float r = sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float e = charge[i] * charge[j] * expf(-r) / r;
        float f = e * (1.0f + r) / (r * r);
        sum += e;
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
    }
    potential[i] = sum;
    force[3 * i] = fx;
    force[3 * i + 1] = fy;
    force[3 * i + 2] = fz;
}

int main() {
    float* h_position = new float[N * 3];
    float* h_charge = new float[N];
    int* h_neighbor = new int[N * SLOTS];
    float* h_force = new float[N * 3];
    float* h_potential = new float[N];
    readFile("data/position.bin", h_position, N * 3);
    readFile("data/charge.bin", h_charge, N);
    readFile("data/neighbor.bin", h_neighbor, N * SLOTS);

    float* d_position = nullptr;
    float* d_charge = nullptr;
    int* d_neighbor = nullptr;
    float* d_force = nullptr;
    float* d_potential = nullptr;
    cudaMalloc(&d_position, N * 3 * sizeof(float));
    cudaMemcpy(d_position, h_position, N * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_charge, N * sizeof(float));
    cudaMemcpy(d_charge, h_charge, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_neighbor, N * SLOTS * sizeof(int));
    cudaMemcpy(d_neighbor, h_neighbor, N * SLOTS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_force, N * 3 * sizeof(float));
    cudaMalloc(&d_potential, N * sizeof(float));

    yukawa<<<(N + 127) / 128, 128>>>(d_position, d_charge, d_neighbor, d_force, d_potential);
    cudaDeviceSynchronize();
    cudaMemcpy(h_force, d_force, N * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_potential, d_potential, N * sizeof(float), cudaMemcpyDeviceToHost);

    writeFile("data/force.bin", h_force, N * 3);
    writeFile("data/potential.bin", h_potential, N);

    cudaFree(d_position);
    cudaFree(d_charge);
    cudaFree(d_neighbor);
    cudaFree(d_force);
    cudaFree(d_potential);
    delete[] h_position;
    delete[] h_charge;
    delete[] h_neighbor;
    delete[] h_force;
    delete[] h_potential;
    return 0;
}
