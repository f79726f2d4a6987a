#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int PARTICLES = 1000;

__global__ void drifts(const float* electric, const float* magnetic, const float* velocity,
                       const float* charge_mass, float* drift, float* radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PARTICLES) return;
    const float* e = electric + 3 * i;
    const float* b = magnetic + 3 * i;
    const float* v = velocity + 3 * i;
    float b2 = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    float d[3] = {(e[1] * b[2] - e[2] * b[1]) / b2,
                  (e[2] * b[0] - e[0] * b[2]) / b2,
                  (e[0] * b[1] - e[1] * b[0]) / b2};
    float w[3], along = 0.0f;
    for (int c = 0; c < 3; ++c) {
        drift[3 * i + c] = d[c];
        w[c] = v[c] - d[c];
        along += w[c] * b[c];
    }
    along /= b2;
    float square = 0.0f;
    for (int c = 0; c < 3; ++c) {
        float p = w[c] - along * b[c];
        square += p * p;
    }
    radius[i] = sqrtf(square) / (fabsf(charge_mass[i]) * sqrtf(b2));
}

int main() {
    float* electric = nullptr;
    float* magnetic = nullptr;
    float* velocity = nullptr;
    float* charge_mass = nullptr;
    float* drift = nullptr;
    float* radius = nullptr;
    cudaMallocManaged(&electric, PARTICLES * 3 * sizeof(float));
    cudaMallocManaged(&magnetic, PARTICLES * 3 * sizeof(float));
    cudaMallocManaged(&velocity, PARTICLES * 3 * sizeof(float));
    cudaMallocManaged(&charge_mass, PARTICLES * sizeof(float));
    cudaMallocManaged(&drift, PARTICLES * 3 * sizeof(float));
    cudaMallocManaged(&radius, PARTICLES * sizeof(float));

    std::ifstream electric_file("data/electric.bin", std::ios::binary);
    electric_file.read(reinterpret_cast<char*>(electric), PARTICLES * 3 * sizeof(float));
    std::ifstream magnetic_file("data/magnetic.bin", std::ios::binary);
    magnetic_file.read(reinterpret_cast<char*>(magnetic), PARTICLES * 3 * sizeof(float));
    std::ifstream velocity_file("data/velocity.bin", std::ios::binary);
    velocity_file.read(reinterpret_cast<char*>(velocity), PARTICLES * 3 * sizeof(float));
    std::ifstream charge_mass_file("data/charge_mass.bin", std::ios::binary);
    charge_mass_file.read(reinterpret_cast<char*>(charge_mass), PARTICLES * sizeof(float));
    if (!electric_file || !magnetic_file || !velocity_file || !charge_mass_file) {
        std::cerr << "input missing or too short\n";
        return 1;
    }

    drifts<<<(PARTICLES + 255) / 256, 256>>>(electric, magnetic, velocity, charge_mass, drift, radius);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    std::ofstream("data/drift.bin", std::ios::binary).write(reinterpret_cast<char*>(drift),
            PARTICLES * 3 * sizeof(float));
    std::ofstream("data/radius.bin", std::ios::binary).write(reinterpret_cast<char*>(radius),
            PARTICLES * sizeof(float));

    cudaFree(electric);
    cudaFree(magnetic);
    cudaFree(velocity);
    cudaFree(charge_mass);
    cudaFree(drift);
    cudaFree(radius);
    return 0;
}
