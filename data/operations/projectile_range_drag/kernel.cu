#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, float* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::cerr << "cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
}

void save_array(const std::string& path, const float* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int kN = 1000;

struct Flight {
    float x, y, vx, vy;
};

__device__ Flight advance(Flight f, float k) {
    float brake = 0.02f * k * sqrtf(f.vx * f.vx + f.vy * f.vy);
    return {fmaf(0.02f, f.vx, f.x), fmaf(0.02f, f.vy, f.y), f.vx - brake * f.vx, f.vy - 0.1962f - brake * f.vy};
}

// Flights differ in length: a thread that is done takes the next projectile from a common counter.
__global__ void fly_queue(const float* __restrict__ speed, const float* __restrict__ elevation,
                          const float* __restrict__ drag, int* next, float* distance, float* height) {
    for (int i = atomicAdd(next, 1); i < kN; i = atomicAdd(next, 1)) {
        float s, c;
        sincosf(elevation[i], &s, &c);
        Flight now = {0.0f, 0.0f, speed[i] * c, speed[i] * s};
        float k = drag[i], top = 0.0f, reach = 0.0f;
        int step = 0;
        for (; step < 500; ++step) {
            Flight then = advance(now, k);
            if (then.y < 0.0f) {
                reach = now.x + (then.x - now.x) * (now.y / (now.y - then.y));
                break;
            }
            top = fmaxf(top, then.y);
            now = then;
        }
        distance[i] = step < 500 ? reach : now.x;
        height[i] = top;
    }
}

int main() {
    float* h_speed = new float[kN];
    float* h_elevation = new float[kN];
    float* h_drag = new float[kN];
    float* h_distance = new float[kN];
    float* h_height = new float[kN];
    load_array("data/speed.bin", h_speed, kN);
    load_array("data/elevation.bin", h_elevation, kN);
    load_array("data/drag.bin", h_drag, kN);

    float *d_speed, *d_elevation, *d_drag, *d_distance, *d_height;
    int *d_next;
    cudaMalloc(&d_speed, sizeof(float) * kN);
    cudaMalloc(&d_elevation, sizeof(float) * kN);
    cudaMalloc(&d_drag, sizeof(float) * kN);
    cudaMalloc(&d_distance, sizeof(float) * kN);
    cudaMalloc(&d_height, sizeof(float) * kN);
    cudaMalloc(&d_next, sizeof(int) * 1);
    cudaMemcpy(d_speed, h_speed, sizeof(float) * kN, cudaMemcpyHostToDevice);
    cudaMemcpy(d_elevation, h_elevation, sizeof(float) * kN, cudaMemcpyHostToDevice);
    cudaMemcpy(d_drag, h_drag, sizeof(float) * kN, cudaMemcpyHostToDevice);

    cudaMemset(d_next, 0, sizeof(int));
    int blocks = (kN + 128 - 1) / 128;
    if (blocks > 528) blocks = 528;
    fly_queue<<<blocks, 128>>>(d_speed, d_elevation, d_drag, d_next, d_distance, d_height);
    cudaDeviceSynchronize();

    cudaMemcpy(h_distance, d_distance, sizeof(float) * kN, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_height, d_height, sizeof(float) * kN, cudaMemcpyDeviceToHost);
    save_array("data/distance.bin", h_distance, kN);
    save_array("data/height.bin", h_height, kN);

    cudaFree(d_speed);
    cudaFree(d_elevation);
    cudaFree(d_drag);
    cudaFree(d_distance);
    cudaFree(d_height);
    cudaFree(d_next);
    delete[] h_speed;
    delete[] h_elevation;
    delete[] h_drag;
    delete[] h_distance;
    delete[] h_height;
    return 0;
}
