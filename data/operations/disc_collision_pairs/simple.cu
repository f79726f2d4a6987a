#include <cstdlib>
#include <cstdio>
#include <string>
#include <cuda_runtime.h>

void readFloats(const std::string& path, float* ptr, size_t n) {
    FILE* f = fopen(path.c_str(), "rb");
    if (f == nullptr || fread(ptr, 1, n * sizeof(float), f) != n * sizeof(float)) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void writeFloats(const std::string& path, const float* ptr, size_t n) {
    FILE* f = fopen(path.c_str(), "wb");
    if (f == nullptr || fwrite(ptr, 1, n * sizeof(float), f) != n * sizeof(float)) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kPairs = 2000;

__global__ void collide(const float* state, const float* mass, float* speed, float* lost) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kPairs) return;
    const float* s = state + 8 * p;
    float m1 = mass[2 * p], m2 = mass[2 * p + 1];
    float nx = s[2] - s[0], ny = s[3] - s[1];
    float length = sqrtf(nx * nx + ny * ny);
    nx /= length;
    ny /= length;
    float vx1 = s[4], vy1 = s[5], vx2 = s[6], vy2 = s[7];
    float approach = (vx1 - vx2) * nx + (vy1 - vy2) * ny;
    float energy = 0.0f;
    if (approach > 0.0f) {
        float inverse = 1.0f / m1 + 1.0f / m2;
        float impulse = 1.8f * approach / inverse;
        vx1 -= impulse * nx / m1;
        vy1 -= impulse * ny / m1;
        vx2 += impulse * nx / m2;
        vy2 += impulse * ny / m2;
        energy = 0.18f * approach * approach / inverse;
    }
    speed[4 * p] = vx1;
    speed[4 * p + 1] = vy1;
    speed[4 * p + 2] = vx2;
    speed[4 * p + 3] = vy2;
    lost[p] = energy;
}

int main() {
    float* h_state = new float[kPairs * 8];
    float* h_mass = new float[kPairs * 2];
    float* h_speed = new float[kPairs * 4];
    float* h_lost = new float[kPairs];
    readFloats("data/state.bin", h_state, kPairs * 8);
    readFloats("data/mass.bin", h_mass, kPairs * 2);

    float *d_state, *d_mass, *d_speed, *d_lost;
    cudaMalloc(&d_state, kPairs * 8 * sizeof(float));
    cudaMalloc(&d_mass, kPairs * 2 * sizeof(float));
    cudaMalloc(&d_speed, kPairs * 4 * sizeof(float));
    cudaMalloc(&d_lost, kPairs * sizeof(float));
    cudaMemcpy(d_state, h_state, kPairs * 8 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_mass, h_mass, kPairs * 2 * sizeof(float), cudaMemcpyHostToDevice);

    collide<<<(kPairs + 255) / 256, 256>>>(d_state, d_mass, d_speed, d_lost);
    cudaMemcpy(h_speed, d_speed, kPairs * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_lost, d_lost, kPairs * sizeof(float), cudaMemcpyDeviceToHost);

    writeFloats("data/speed.bin", h_speed, kPairs * 4);
    writeFloats("data/lost.bin", h_lost, kPairs);

    cudaFree(d_state);
    cudaFree(d_mass);
    cudaFree(d_speed);
    cudaFree(d_lost);
    delete[] h_state;
    delete[] h_mass;
    delete[] h_speed;
    delete[] h_lost;
    return 0;
}
