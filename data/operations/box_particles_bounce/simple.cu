#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kParticles = 4000;
constexpr int kEdge = 1000000;
constexpr int kSteps = 40;

__device__ int reflect(int* c, int* v) {
    if (*c >= 0 && *c <= kEdge) return 0;
    *c = *c < 0 ? -*c : 2 * kEdge - *c;
    *v = -(7 * *v / 8);
    return 1;
}

__global__ void bounce(const int* position, const int* velocity, int* new_position, int* bounces) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kParticles) return;
    int x = position[2 * i], y = position[2 * i + 1];
    int vx = velocity[2 * i], vy = velocity[2 * i + 1];
    int count = 0;
    for (int s = 0; s < kSteps; ++s) {
        vy -= 150;
        x += vx;
        y += vy;
        count += reflect(&x, &vx);
        count += reflect(&y, &vy);
    }
    new_position[2 * i] = x;
    new_position[2 * i + 1] = y;
    bounces[i] = count;
}

int main() {
    const auto h_position = load_vector<int>("data/position.bin", kParticles * 2);
    const auto h_velocity = load_vector<int>("data/velocity.bin", kParticles * 2);

    int *d_position, *d_velocity, *d_new_position, *d_bounces;
    cudaMalloc(&d_position, kParticles * 2 * sizeof(int));
    cudaMalloc(&d_velocity, kParticles * 2 * sizeof(int));
    cudaMalloc(&d_new_position, kParticles * 2 * sizeof(int));
    cudaMalloc(&d_bounces, kParticles * sizeof(int));
    cudaMemcpy(d_position, h_position.data(), kParticles * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity, h_velocity.data(), kParticles * 2 * sizeof(int), cudaMemcpyHostToDevice);

    bounce<<<(kParticles + 255) / 256, 256>>>(d_position, d_velocity, d_new_position, d_bounces);

    std::vector<int> h_new_position(kParticles * 2);
    std::vector<int> h_bounces(kParticles);
    cudaMemcpy(h_new_position.data(), d_new_position, kParticles * 2 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_bounces.data(), d_bounces, kParticles * sizeof(int), cudaMemcpyDeviceToHost);
    store_vector("data/new_position.bin", h_new_position);
    store_vector("data/bounces.bin", h_bounces);

    cudaFree(d_position);
    cudaFree(d_velocity);
    cudaFree(d_new_position);
    cudaFree(d_bounces);
    return 0;
}
