#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kParticles = 4000;
constexpr int kEdge = 1000000;
constexpr int kSteps = 40;
constexpr int kBlock = 256;

struct DeviceArray {
    int* p = nullptr;
    explicit DeviceArray(size_t n) {
        if (cudaMalloc(&p, n * sizeof(int)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceArray() { cudaFree(p); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

std::vector<int> loadFile(const std::string& path, size_t n) {
    std::vector<int> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()),
            n * sizeof(int))) throw std::runtime_error("cannot read " + path);
    return v;
}

// Coordinates do not influence each other: a thread moves one of them, and its pair partner is the next lane.
__global__ void bounce_axes(const int* __restrict__ position, const int* __restrict__ velocity,
                            int* __restrict__ new_position, int* __restrict__ bounces) {
    int k = blockIdx.x * kBlock + threadIdx.x;
    bool valid = k < 2 * kParticles;
    int c = valid ? position[k] : 0;
    int v = valid ? velocity[k] : 0;
    int pull = k % 2 == 1 ? 150 : 0;
    int count = 0;
    for (int s = 0; s < kSteps; ++s) {
        v -= pull;
        c += v;
        bool out = c < 0 || c > kEdge;
        c = c < 0 ? -c : c > kEdge ? 2 * kEdge - c : c;
        if (out) v = -(7 * v / 8);
        count += out;
    }
    count += __shfl_down_sync(0xffffffffu, count, 1);
    if (valid) {
        new_position[k] = c;
        if (k % 2 == 0) bounces[k / 2] = count;
    }
}

int main() {
    std::vector<int> host_position = loadFile("data/position.bin", kParticles * 2);
    std::vector<int> host_velocity = loadFile("data/velocity.bin", kParticles * 2);
    std::vector<int> host_new_position(kParticles * 2);
    std::vector<int> host_bounces(kParticles);

    DeviceArray positionDev(kParticles * 2);
    DeviceArray velocityDev(kParticles * 2);
    DeviceArray new_positionDev(kParticles * 2);
    DeviceArray bouncesDev(kParticles);
    cudaMemcpy(positionDev.p, host_position.data(), kParticles * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(velocityDev.p, host_velocity.data(), kParticles * 2 * sizeof(int), cudaMemcpyHostToDevice);

    bounce_axes<<<(2 * kParticles + kBlock - 1) / kBlock, kBlock>>>(positionDev.p, velocityDev.p,
            new_positionDev.p, bouncesDev.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
    cudaMemcpy(host_new_position.data(), new_positionDev.p, kParticles * 2 * sizeof(int),
            cudaMemcpyDeviceToHost);
    cudaMemcpy(host_bounces.data(), bouncesDev.p, kParticles * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream("data/new_position.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_new_position.data()),
                    kParticles * 2 * sizeof(int));
    std::ofstream("data/bounces.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_bounces.data()),
                    kParticles * sizeof(int));
    return 0;
}
