#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int HEIGHT = 50;
static const int WIDTH = 90;
static const int STEPS = 6;

// prev is overwritten with the new field
__global__ void membrane_step(float* prev, const float* cur) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int i = y * WIDTH + x;
    if (x == 0 || y == 0 || x == WIDTH - 1 || y == HEIGHT - 1) {
        prev[i] = cur[i];
        return;
    }
    float lap = cur[i - WIDTH] + cur[i + WIDTH] + cur[i - 1] + cur[i + 1] - 4.0f * cur[i];
    prev[i] = (2.0f * cur[i] - 0.98f * prev[i] + 0.3f * lap) / 1.02f;
}

void launch(const float* d_previous, const float* d_current,
            float* d_displacement, float* d_a, float* d_b) {
    const size_t field_bytes = sizeof(float) * HEIGHT * WIDTH;
    cudaMemcpy(d_a, d_previous, field_bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpy(d_b, d_current, field_bytes, cudaMemcpyDeviceToDevice);
    float* prev = d_a;
    float* cur = d_b;
    dim3 block(32, 8);
    dim3 grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
    for (int s = 0; s < STEPS; ++s) {
        membrane_step<<<grid, block>>>(prev, cur);
        float* t = prev;
        prev = cur;
        cur = t;
    }
    cudaMemcpy(d_displacement, cur, field_bytes, cudaMemcpyDeviceToDevice);
}

int main() {
    const size_t count = HEIGHT * WIDTH;
    std::vector<float> h_previous(count);
    std::vector<float> h_current(count);
    std::vector<float> h_displacement(count);
    FILE* f = fopen("data/previous.bin", "rb");
    if (!f || fread(h_previous.data(), sizeof(float), h_previous.size(), f) != h_previous.size()) {
        fprintf(stderr, "error reading previous\n");
        return EXIT_FAILURE;
    }
    fclose(f);
    f = fopen("data/current.bin", "rb");
    if (!f || fread(h_current.data(), sizeof(float), h_current.size(), f) != h_current.size()) {
        fprintf(stderr, "error reading current\n");
        return EXIT_FAILURE;
    }
    fclose(f);

    float* d_previous;
    float* d_current;
    float* d_displacement;
    float* d_a;
    float* d_b;
    cudaMalloc(&d_previous, count * sizeof(float));
    cudaMalloc(&d_current, count * sizeof(float));
    cudaMalloc(&d_displacement, count * sizeof(float));
    cudaMalloc(&d_a, count * sizeof(float));
    cudaMalloc(&d_b, count * sizeof(float));
    cudaMemcpy(d_previous, h_previous.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_current, h_current.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    launch(d_previous, d_current, d_displacement, d_a, d_b);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_displacement.data(), d_displacement, count * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/displacement.bin", "wb");
    if (!f || fwrite(h_displacement.data(), sizeof(float), h_displacement.size(),
            f) != h_displacement.size()) return EXIT_FAILURE;
    fclose(f);
    cudaFree(d_previous);
    cudaFree(d_current);
    cudaFree(d_displacement);
    cudaFree(d_a);
    cudaFree(d_b);
    return 0;
}
