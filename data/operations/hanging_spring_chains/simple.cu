#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kChains = 20;
constexpr int kBeads = 50;
const int kSteps = 12;

__device__ void pull(const float* p, const float* other, float& fx, float& fy) {
    float dx = other[0] - p[0];
    float dy = other[1] - p[1];
    float len = sqrtf(dx * dx + dy * dy);
    float k = 50.0f * (len - 0.5f) / len;
    fx += k * dx;
    fy += k * dy;
}

__global__ void step(const float* p0, const float* v0, float* p1, float* v1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kChains * kBeads) return;
    int bead = i % kBeads;
    const float* p = p0 + 2 * i;
    const float* v = v0 + 2 * i;
    if (bead == 0) {
        p1[2 * i] = p[0];
        p1[2 * i + 1] = p[1];
        v1[2 * i] = v[0];
        v1[2 * i + 1] = v[1];
        return;
    }
    float fx = -0.2f * v[0];
    float fy = -9.81f - 0.2f * v[1];
    pull(p, p - 2, fx, fy);
    if (bead + 1 < kBeads) pull(p, p + 2, fx, fy);
    float vx = v[0] + 0.01f * fx;
    float vy = v[1] + 0.01f * fy;
    v1[2 * i] = vx;
    v1[2 * i + 1] = vy;
    p1[2 * i] = p[0] + 0.01f * vx;
    p1[2 * i + 1] = p[1] + 0.01f * vy;
}

int main() {
    const auto h_position = load<float>("data/position.bin", kChains * kBeads * 2);
    auto h_velocity = load<float>("data/velocity.bin", kChains * kBeads * 2);
    std::vector<float> h_new_position(kChains * kBeads * 2);
    std::vector<float> h_new_velocity(kChains * kBeads * 2);

    float* dev_position = nullptr;
    float* dev_velocity = nullptr;
    float* dev_new_position = nullptr;
    float* dev_new_velocity = nullptr;
    float* dev_temp_position = nullptr;
    float* dev_temp_velocity = nullptr;
    cudaMalloc(&dev_position, sizeof(float) * kChains * kBeads * 2);
    cudaMalloc(&dev_velocity, sizeof(float) * kChains * kBeads * 2);
    cudaMalloc(&dev_new_position, sizeof(float) * kChains * kBeads * 2);
    cudaMalloc(&dev_new_velocity, sizeof(float) * kChains * kBeads * 2);
    cudaMalloc(&dev_temp_position, sizeof(float) * kChains * kBeads * 2);
    cudaMalloc(&dev_temp_velocity, sizeof(float) * kChains * kBeads * 2);
    cudaMemcpy(dev_position, h_position.data(), sizeof(float) * kChains * kBeads * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_velocity, h_velocity.data(), sizeof(float) * kChains * kBeads * 2, cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (kChains * kBeads + threads - 1) / threads;
    const float* from_p = dev_position;
    const float* from_v = dev_velocity;
    for (int s = 0; s < kSteps; ++s) {
        // The last step has to end in the output arrays.
        bool to_output = (kSteps - 1 - s) % 2 == 0;
        float* to_p = to_output ? dev_new_position : dev_temp_position;
        float* to_v = to_output ? dev_new_velocity : dev_temp_velocity;
        step<<<blocks, threads>>>(from_p, from_v, to_p, to_v);
        from_p = to_p;
        from_v = to_v;
    }

    cudaMemcpy(h_new_position.data(), dev_new_position, sizeof(float) * kChains * kBeads * 2,
        cudaMemcpyDeviceToHost);
    cudaMemcpy(h_new_velocity.data(), dev_new_velocity, sizeof(float) * kChains * kBeads * 2,
        cudaMemcpyDeviceToHost);
    store("data/new_position.bin", h_new_position);
    store("data/new_velocity.bin", h_new_velocity);

    cudaFree(dev_position);
    cudaFree(dev_velocity);
    cudaFree(dev_new_position);
    cudaFree(dev_new_velocity);
    cudaFree(dev_temp_position);
    cudaFree(dev_temp_velocity);
}
