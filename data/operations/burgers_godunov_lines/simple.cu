#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_binary(const char* name, void* buffer, size_t bytes) {
    FILE* f = fopen(name, "rb");
    size_t got = f ? fread(buffer, 1, bytes, f) : 0;
    if (got != bytes) {
        fprintf(stderr, "%s: short read\n", name);
        exit(1);
    }
    fclose(f);
}

void write_binary(const char* name, const void* buffer, size_t bytes) {
    FILE* f = fopen(name, "wb");
    if (!f || fwrite(buffer, 1, bytes, f) != bytes) {
        fprintf(stderr, "%s: write failed\n", name);
        exit(1);
    }
    fclose(f);
}
//@given

const int LINES = 25;
const int CELLS = 400;
const int STEPS = 8;
#define CEIL_DIV(n, d) (((n) + (d) - 1) / (d))

__device__ float godunov(float a, float b) {
    a = fmaxf(a, 0.0f);
    b = fminf(b, 0.0f);
    return fmaxf(0.5f * a * a, 0.5f * b * b);
}

__global__ void burgers_step(const float* u, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= CELLS) return;
    size_t k = (size_t)blockIdx.y * CELLS + i;
    float mid = u[k];
    float left = i > 0 ? u[k - 1] : mid;
    float right = i < CELLS - 1 ? u[k + 1] : mid;
    out[k] = mid - 0.3f * (godunov(mid, right) - godunov(left, mid));
}

int main() {
    const int n = LINES * CELLS;

    float* h_start = new float[n];
    float* h_final_state = new float[n];
    float *d_start;
    float *d_final_state;
    float *d_other;
    cudaMalloc(&d_start, n * sizeof(float));
    cudaMalloc((void**)&d_final_state, n * sizeof(float));
    cudaMalloc((void**)&d_other, n * sizeof(float));

    read_binary("data/start.bin", h_start, n * sizeof(float));
    cudaMemcpy(d_start, h_start, n * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid(CEIL_DIV(CELLS, 256), LINES);
    const float* in = d_start;
    for (int s = 0; s < STEPS; ++s) {
        float* out = (STEPS - s) % 2 == 1 ? d_final_state : d_other;
        burgers_step<<<grid, 256>>>(in, out);
        in = out;
    }

    cudaMemcpy(h_final_state, d_final_state, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/final_state.bin", h_final_state, n * sizeof(float));

    cudaFree(d_start);
    cudaFree(d_final_state);
    cudaFree(d_other);
    delete[] h_start;
    delete[] h_final_state;
    return 0;
}
