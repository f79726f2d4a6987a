#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 1000;
const int kMaxSteps = 500;

__global__ void shoot(const float* speed, const float* elevation, const float* drag,
                      float* distance, float* height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    const float dt = 0.02f;
    float k = drag[i];
    float vx = speed[i] * cosf(elevation[i]);
    float vy = speed[i] * sinf(elevation[i]);
    float x = 0.0f, y = 0.0f, top = 0.0f;
    for (int step = 0; step < kMaxSteps; ++step) {
        float s = sqrtf(vx * vx + vy * vy);
        float nx = x + dt * vx;
        float ny = y + dt * vy;
        if (ny < 0.0f) {
            x = x + (nx - x) * y / (y - ny);
            break;
        }
        x = nx;
        y = ny;
        top = fmaxf(top, y);
        vx -= dt * k * s * vx;
        vy -= dt * (9.81f + k * s * vy);
    }
    distance[i] = x;
    height[i] = top;
}

void solve(const float* d_speed, const float* d_elevation, const float* d_drag, float* d_distance,
    float* d_height) {
    shoot<<<(kN + 127) / 128, 128>>>(d_speed, d_elevation, d_drag, d_distance, d_height);
}

int main() {
    std::vector<float> speed(kN);
    std::vector<float> elevation(kN);
    std::vector<float> drag(kN);
    std::vector<float> distance(kN);
    std::vector<float> height(kN);
    FILE* f = fopen("data/speed.bin", "rb");
    if (!f || fread(speed.data(), sizeof(float), speed.size(), f) != speed.size()) {
        fprintf(stderr, "cannot read data/speed.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/elevation.bin", "rb");
    if (!f || fread(elevation.data(), sizeof(float), elevation.size(), f) != elevation.size()) {
        fprintf(stderr, "cannot read data/elevation.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/drag.bin", "rb");
    if (!f || fread(drag.data(), sizeof(float), drag.size(), f) != drag.size()) {
        fprintf(stderr, "cannot read data/drag.bin\n");
        return 1;
    }
    fclose(f);

    float *d_speed, *d_elevation, *d_drag, *d_distance, *d_height;
    cudaMalloc(&d_speed, kN * sizeof(float));
    cudaMalloc(&d_elevation, kN * sizeof(float));
    cudaMalloc(&d_drag, kN * sizeof(float));
    cudaMalloc(&d_distance, kN * sizeof(float));
    cudaMalloc(&d_height, kN * sizeof(float));
    cudaMemcpy(d_speed, speed.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_elevation, elevation.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_drag, drag.data(), kN * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_speed, d_elevation, d_drag, d_distance, d_height);

    cudaMemcpy(distance.data(), d_distance, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(height.data(), d_height, kN * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/distance.bin", "wb");
    fwrite(distance.data(), sizeof(float), distance.size(), f);
    fclose(f);
    f = fopen("data/height.bin", "wb");
    fwrite(height.data(), sizeof(float), height.size(), f);
    fclose(f);

    cudaFree(d_speed);
    cudaFree(d_elevation);
    cudaFree(d_drag);
    cudaFree(d_distance);
    cudaFree(d_height);
    return 0;
}
