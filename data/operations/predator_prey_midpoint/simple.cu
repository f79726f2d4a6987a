#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int HABITATS = 4000;

__device__ void slopes(float x, float y, float r, float* dx, float* dy) {
    float eaten = x * y / (1.0f + 0.4f * x);
    *dx = r * x * (1.0f - x / 5.0f) - 0.8f * eaten;
    *dy = 0.5f * eaten - 0.3f * y;
}

__global__ void simulate(const float* prey, const float* predator, const float* growth,
                         float* prey_after, float* predator_after) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= HABITATS) return;
    float x = prey[i], y = predator[i], r = growth[i];
    for (int step = 0; step < 60; ++step) {
        float dx, dy;
        slopes(x, y, r, &dx, &dy);
        slopes(x + 0.025f * dx, y + 0.025f * dy, r, &dx, &dy);
        x = fmaxf(x + 0.05f * dx, 0.001f);
        y = fmaxf(y + 0.05f * dy, 0.001f);
    }
    prey_after[i] = x;
    predator_after[i] = y;
}

int main() {
    std::vector<float> h_prey(HABITATS), h_predator(HABITATS), h_growth(HABITATS), h_prey_after(HABITATS),
            h_predator_after(HABITATS);
    std::ifstream is_prey("data/prey.bin", std::ios::binary);
    if (!is_prey.read((char*)h_prey.data(), HABITATS * sizeof(float))) {
        std::cerr << "cannot read data/prey.bin\n";
        return 1;
    }
    std::ifstream is_predator("data/predator.bin", std::ios::binary);
    if (!is_predator.read((char*)h_predator.data(), HABITATS * sizeof(float))) {
        std::cerr << "cannot read data/predator.bin\n";
        return 1;
    }
    std::ifstream is_growth("data/growth.bin", std::ios::binary);
    if (!is_growth.read((char*)h_growth.data(), HABITATS * sizeof(float))) {
        std::cerr << "cannot read data/growth.bin\n";
        return 1;
    }

    float* d_prey = nullptr;
    float* d_predator = nullptr;
    float* d_growth = nullptr;
    float* d_prey_after = nullptr;
    float* d_predator_after = nullptr;
    cudaMalloc(&d_prey, HABITATS * sizeof(float));
    cudaMalloc(&d_predator, HABITATS * sizeof(float));
    cudaMalloc(&d_growth, HABITATS * sizeof(float));
    cudaMalloc(&d_prey_after, HABITATS * sizeof(float));
    cudaMalloc(&d_predator_after, HABITATS * sizeof(float));
    cudaMemcpy(d_prey, h_prey.data(), HABITATS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_predator, h_predator.data(), HABITATS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_growth, h_growth.data(), HABITATS * sizeof(float), cudaMemcpyHostToDevice);

    simulate<<<(HABITATS + 255) / 256, 256>>>(d_prey, d_predator, d_growth, d_prey_after, d_predator_after);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_prey_after.data(), d_prey_after, HABITATS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_predator_after.data(), d_predator_after, HABITATS * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream out_prey_after("data/prey_after.bin", std::ios::binary);
    out_prey_after.write(reinterpret_cast<const char*>(h_prey_after.data()), HABITATS * sizeof(float));
    std::ofstream out_predator_after("data/predator_after.bin", std::ios::binary);
    out_predator_after.write(reinterpret_cast<const char*>(h_predator_after.data()), HABITATS * sizeof(float));

    cudaFree(d_prey);
    cudaFree(d_predator);
    cudaFree(d_growth);
    cudaFree(d_prey_after);
    cudaFree(d_predator_after);
    return 0;
}
