#include <cuda_runtime.h>
#include <fstream>
#include <vector>
#include <iostream>

constexpr int kBodies = 3000;

__device__ void cross(const float* a, const float* b, float* c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

__global__ void apparent_acceleration(const float* position, const float* velocity, const float* spin,
                                      float* apparent) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kBodies) return;
    float coriolis[3], inner[3], centrifugal[3], euler[3];
    cross(spin, velocity + 3 * i, coriolis);
    cross(spin, position + 3 * i, inner);
    cross(spin, inner, centrifugal);
    cross(spin + 3, position + 3 * i, euler);
    for (int c = 0; c < 3; ++c) {
        apparent[3 * i + c] = -2.0f * coriolis[c] - centrifugal[c] - euler[c];
    }
}

int main() {
    std::vector<float> h_position(kBodies * 3);
    std::vector<float> h_velocity(kBodies * 3);
    std::vector<float> h_spin(2 * 3);
    std::vector<float> h_apparent(kBodies * 3);
    std::ifstream is_position("data/position.bin", std::ios::binary);
    if (!is_position.read((char*)h_position.data(), kBodies * 3 * sizeof(float))) {
        std::cerr << "cannot read data/position.bin\n";
        return 1;
    }
    std::ifstream is_velocity("data/velocity.bin", std::ios::binary);
    if (!is_velocity.read((char*)h_velocity.data(), kBodies * 3 * sizeof(float))) {
        std::cerr << "cannot read data/velocity.bin\n";
        return 1;
    }
    std::ifstream is_spin("data/spin.bin", std::ios::binary);
    is_spin.read(reinterpret_cast<char*>(h_spin.data()), 2 * 3 * sizeof(float));
    if (!is_spin) {
        std::cerr << "missing data/spin.bin" << std::endl;
        return 1;
    }

    float* d_position;
    float* d_velocity;
    float* d_spin;
    float* d_apparent;
    cudaMalloc(&d_position, kBodies * 3 * sizeof(float));
    cudaMalloc(&d_velocity, kBodies * 3 * sizeof(float));
    cudaMalloc(&d_spin, 2 * 3 * sizeof(float));
    cudaMalloc(&d_apparent, kBodies * 3 * sizeof(float));
    cudaMemcpy(d_position, h_position.data(), kBodies * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity, h_velocity.data(), kBodies * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_spin, h_spin.data(), 2 * 3 * sizeof(float), cudaMemcpyHostToDevice);

    apparent_acceleration<<<(kBodies + 255) / 256, 256>>>(d_position, d_velocity, d_spin, d_apparent);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_apparent.data(), d_apparent, kBodies * 3 * sizeof(float), cudaMemcpyDeviceToHost);

    cudaFree(d_position);
    cudaFree(d_velocity);
    cudaFree(d_spin);
    cudaFree(d_apparent);

    std::ofstream os("data/apparent.bin", std::ios::binary);
    os.write(reinterpret_cast<const char*>(h_apparent.data()), kBodies * 3 * sizeof(float));
    return 0;
}
