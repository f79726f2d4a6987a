#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define PLANES 4
#define HEIGHT 70
#define WIDTH 96

#define gpuErrchk(x) { cudaError_t err = (x); if (err != cudaSuccess) { \
    fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err)); exit(EXIT_FAILURE); } }

__global__ void stochastic_pool(const float* x, const float* u, float* y, int* pick) {
    const int oh = HEIGHT / 2, ow = WIDTH / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PLANES * oh * ow) return;
    int c = i % ow, r = i / ow % oh, p = i / (ow * oh);
    const float* block = x + ((size_t)p * HEIGHT + 2 * r) * WIDTH + 2 * c;
    float v[4] = {block[0], block[1], block[WIDTH], block[WIDTH + 1]};
    float target = u[i] * (v[0] + v[1] + v[2] + v[3]);
    int chosen = 0;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        sum += v[k];
        if (sum > target) {
            chosen = k;
            break;
        }
    }
    y[i] = v[chosen];
    pick[i] = chosen;
}

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* fp = fopen(path, "rb");
    if (fp == NULL || fread(dst, 1, bytes, fp) != bytes) {
        fprintf(stderr, "could not read %s\n", path);
        exit(1);
    }
    fclose(fp);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* fp = fopen(path, "wb");
    if (fp == NULL || fwrite(src, 1, bytes, fp) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(fp);
}

int main() {
    const size_t x_size = (size_t)PLANES * HEIGHT * WIDTH;
    const size_t u_size = (size_t)PLANES * (HEIGHT / 2) * (WIDTH / 2);
    float* x_host = (float*)malloc(x_size * sizeof(float));
    float* u_host = (float*)malloc(u_size * sizeof(float));
    float* y_host = (float*)malloc(u_size * sizeof(float));
    int* pick_host = (int*)malloc(u_size * sizeof(int));

    read_file("data/x.bin", x_host, x_size * sizeof(float));
    read_file("data/u.bin", u_host, u_size * sizeof(float));

    float* d_x;
    float* d_u;
    float* d_y;
    int* d_pick;
    gpuErrchk(cudaMalloc(&d_x, x_size * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_u, u_size * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_y, u_size * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_pick, u_size * sizeof(int)));
    gpuErrchk(cudaMemcpy(d_x, x_host, x_size * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_u, u_host, u_size * sizeof(float), cudaMemcpyHostToDevice));

    const int outputs = PLANES * (HEIGHT / 2) * (WIDTH / 2);
    stochastic_pool<<<(outputs + 256 - 1) / 256, 256>>>(d_x, d_u, d_y, d_pick);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());

    gpuErrchk(cudaMemcpy(y_host, d_y, u_size * sizeof(float), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(pick_host, d_pick, u_size * sizeof(int), cudaMemcpyDeviceToHost));
    write_file("data/y.bin", y_host, u_size * sizeof(float));
    write_file("data/pick.bin", pick_host, u_size * sizeof(int));

    cudaFree(d_x);
    cudaFree(d_u);
    cudaFree(d_y);
    cudaFree(d_pick);
    free(x_host);
    free(u_host);
    free(y_host);
    free(pick_host);
    return 0;
}
