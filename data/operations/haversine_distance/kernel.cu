#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) {
        std::cerr << "cannot read " << path << "\n";
        exit(1);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kN = 6000;

// sincosf gives both functions of an angle; sin(dl) and cos(dl) follow from the half angle.
__global__ void distance_bearing_pairs(const float2* __restrict__ start, const float2* __restrict__ goal,
                                       float* __restrict__ km, float* __restrict__ bearing, int n) {
    const float rad = 0.017453292f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float2 from = start[i], to = goal[i];
        float s1, c1, s2, c2, half_sin, half_cos;
        sincosf(from.x * rad, &s1, &c1);
        sincosf(to.x * rad, &s2, &c2);
        sincosf(0.5f * rad * (to.y - from.y), &half_sin, &half_cos);
        const float a = sinf(0.5f * rad * (to.x - from.x));
        const float h = fmaf(c1 * c2 * half_sin, half_sin, a * a);
        km[i] = 12742.0f * atan2f(sqrtf(h), sqrtf(1.0f - h));
        const float y = 2.0f * half_sin * half_cos * c2;
        const float x = c1 * s2 - s1 * c2 * (1.0f - 2.0f * half_sin * half_sin);
        const float angle = atan2f(y, x) * 57.29578f;
        bearing[i] = angle + (angle < 0.0f ? 360.0f : 0.0f);
    }
}

int main() {
    constexpr size_t size = kN * 2;
    auto h_start = load<float>("data/start.bin", size);
    auto h_goal = load<float>("data/goal.bin", size);
    std::vector<float> h_km(kN);
    std::vector<float> h_bearing(kN);

    float *d_start, *d_goal, *d_km, *d_bearing;
    cudaMalloc(&d_start, size * sizeof(float));
    cudaMalloc(&d_goal, size * sizeof(float));
    cudaMalloc(&d_km, kN * sizeof(float));
    cudaMalloc(&d_bearing, kN * sizeof(float));
    cudaMemcpy(d_start, h_start.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_goal, h_goal.data(), size * sizeof(float), cudaMemcpyHostToDevice);

    distance_bearing_pairs<<<min((kN + 127) / 128, 4096), 128>>>((const float2*)d_start,
            (const float2*)d_goal, d_km, d_bearing, kN);
    if (auto status = cudaDeviceSynchronize(); status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_km.data(), d_km, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_bearing.data(), d_bearing, kN * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/km.bin", h_km);
    store("data/bearing.bin", h_bearing);
    cudaFree(d_start);
    cudaFree(d_goal);
    cudaFree(d_km);
    cudaFree(d_bearing);
}
