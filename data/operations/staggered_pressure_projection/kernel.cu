#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_binary(const char* filename, void* dst, size_t size) {
    FILE* f = fopen(filename, "rb");
    size_t got = f ? fread(dst, 1, size, f) : 0;
    if (got != size) {
        fprintf(stderr, "%s: short read\n", filename);
        exit(1);
    }
    fclose(f);
}

void store_binary(const char* filename, const void* dst, size_t size) {
    FILE* f = fopen(filename, "wb");
    if (!f || fwrite(dst, 1, size, f) != size) {
        fprintf(stderr, "%s: write failed\n", filename);
        exit(1);
    }
    fclose(f);
}
//@given

const int kNy = 80;
const int kNx = 120;
#define GRID_FOR(x, y) (((x) + (y) - 1) / (y))

// Both fields in one pass: the thread of (x, y) owns the face to the left and the face above cell (x, y).
__global__ void project(const float* u, const float* v, const float* p, float* u_new, float* v_new) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > kNx || y > kNy) return;
    float here = x < kNx && y < kNy ? p[y * kNx + x] : 0.0f;
    if (y < kNy) {
        int i = y * (kNx + 1) + x;
        u_new[i] = x == 0 || x == kNx ? 0.0f : u[i] - 0.4f * (here - p[y * kNx + x - 1]);
    }
    if (x < kNx) {
        int i = y * kNx + x;
        v_new[i] = y == 0 || y == kNy ? 0.0f : v[i] - 0.4f * (here - p[i - kNx]);
    }
}

int main() {
    const int num_u = kNy * (kNx + 1);
    const int num_v = (kNy + 1) * kNx;
    const int num_pressure = kNy * kNx;

    float* h_u = new float[num_u];
    float* h_v = new float[num_v];
    float* h_pressure = new float[num_pressure];
    float* h_u_new = new float[num_u];
    float* h_v_new = new float[num_v];
    load_binary("data/u.bin", h_u, num_u * sizeof(float));
    load_binary("data/v.bin", h_v, num_v * sizeof(float));
    load_binary("data/pressure.bin", h_pressure, num_pressure * sizeof(float));

    float *d_u;
    float *d_v;
    float *d_pressure;
    float *d_u_new;
    float *d_v_new;
    cudaMalloc(&d_u, num_u * sizeof(float));
    cudaMalloc(&d_v, num_v * sizeof(float));
    cudaMalloc((void**)&d_pressure, num_pressure * sizeof(float));
    cudaMalloc(&d_u_new, num_u * sizeof(float));
    cudaMalloc(&d_v_new, num_v * sizeof(float));
    cudaMemcpy(d_u, h_u, num_u * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v, num_v * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pressure, h_pressure, num_pressure * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid(GRID_FOR(kNx + 1, 32), GRID_FOR(kNy + 1, 8));
    project<<<grid, block>>>(d_u, d_v, d_pressure, d_u_new, d_v_new);
    cudaDeviceSynchronize();

    cudaMemcpy(h_u_new, d_u_new, num_u * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_v_new, d_v_new, num_v * sizeof(float), cudaMemcpyDeviceToHost);
    store_binary("data/u_new.bin", h_u_new, num_u * sizeof(float));
    store_binary("data/v_new.bin", h_v_new, num_v * sizeof(float));

    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_pressure);
    cudaFree(d_u_new);
    cudaFree(d_v_new);
    delete[] h_u;
    delete[] h_v;
    delete[] h_pressure;
    delete[] h_u_new;
    delete[] h_v_new;
    return 0;
}
