#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int SATELLITES = 2000;

__global__ void orbit_state(const float* elements, float* position, float* velocity) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= SATELLITES) return;
    const float* el = elements + 6 * s;
    float a = el[0], e = el[1], i = el[2], N = el[3], w = el[4], f = el[5];
    float p = a * (1.0f - e * e);
    float r = p / (1.0f + e * cosf(f));
    float u = w + f;
    float k = sqrtf(398600.44f / p);
    float A = sinf(u) + e * sinf(w);
    float B = cosf(u) + e * cosf(w);
    position[3 * s] = r * (cosf(N) * cosf(u) - sinf(N) * sinf(u) * cosf(i));
    position[3 * s + 1] = r * (sinf(N) * cosf(u) + cosf(N) * sinf(u) * cosf(i));
    position[3 * s + 2] = r * sinf(u) * sinf(i);
    velocity[3 * s] = k * (-cosf(N) * A - sinf(N) * B * cosf(i));
    velocity[3 * s + 1] = k * (-sinf(N) * A + cosf(N) * B * cosf(i));
    velocity[3 * s + 2] = k * B * sinf(i);
}

int main() {
    std::vector<float> host_elements(SATELLITES * 6), host_position(SATELLITES * 3),
            host_velocity(SATELLITES * 3);
    FILE* f0 = fopen("data/elements.bin", "rb");
    if (!f0 || fread(host_elements.data(), sizeof(float), SATELLITES * 6, f0) != SATELLITES * 6) return 1;
    fclose(f0);
    float *d_elements, *d_position, *d_velocity;
    cudaMalloc(&d_elements, SATELLITES * 6 * sizeof(float));
    cudaMalloc(&d_position, SATELLITES * 3 * sizeof(float));
    cudaMalloc(&d_velocity, SATELLITES * 3 * sizeof(float));
    cudaMemcpy(d_elements, host_elements.data(), SATELLITES * 6 * sizeof(float), cudaMemcpyHostToDevice);
    orbit_state<<<(SATELLITES + 255) / 256, 256>>>(d_elements, d_position, d_velocity);
    cudaMemcpy(host_position.data(), d_position, SATELLITES * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_velocity.data(), d_velocity, SATELLITES * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/position.bin", "wb");
    fwrite(host_position.data(), sizeof(float), SATELLITES * 3, o0);
    fclose(o0);
    FILE* o1 = fopen("data/velocity.bin", "wb");
    fwrite(host_velocity.data(), sizeof(float), SATELLITES * 3, o1);
    fclose(o1);
}
