#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int ROWS = 30;
const int COLS = 40;
const int NUMBERS = ROWS * COLS * 3;

#define CUDA_OK(call) \
    do { \
        cudaError_t rc = (call); \
        if (rc != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void save_bin(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

__device__ void add_spring(const float* p, int self, int other, float* force) {
    float d[3];
    float square = 0.0f;
    for (int k = 0; k < 3; ++k) {
        d[k] = p[3 * other + k] - p[3 * self + k];
        square += d[k] * d[k];
    }
    float pull = 80.0f * (1.0f - 1.0f / sqrtf(square));
    for (int k = 0; k < 3; ++k) force[k] += pull * d[k];
}

__global__ void cloth_step(const float* p, float* p_next, float* v) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= ROWS || c >= COLS) return;
    int i = r * COLS + c;
    if (r == 0) {
        for (int k = 0; k < 3; ++k) p_next[3 * i + k] = p[3 * i + k];
        return;
    }
    float force[3] = {-0.5f * v[3 * i], -0.5f * v[3 * i + 1], -0.5f * v[3 * i + 2] - 9.81f};
    add_spring(p, i, i - COLS, force);
    if (r < ROWS - 1) add_spring(p, i, i + COLS, force);
    if (c > 0) add_spring(p, i, i - 1, force);
    if (c < COLS - 1) add_spring(p, i, i + 1, force);
    for (int k = 0; k < 3; ++k) {
        v[3 * i + k] += 0.01f * force[k];
        p_next[3 * i + k] = p[3 * i + k] + 0.01f * v[3 * i + k];
    }
}

int main() {
    float* h_position = (float*)malloc(NUMBERS * sizeof(float));
    float* h_velocity = (float*)malloc(NUMBERS * sizeof(float));
    float* h_new_position = (float*)malloc(NUMBERS * sizeof(float));
    float* h_new_velocity = (float*)malloc(NUMBERS * sizeof(float));
    load_bin("data/position.bin", h_position, NUMBERS * sizeof(float));
    load_bin("data/velocity.bin", h_velocity, NUMBERS * sizeof(float));

    float* d_position = nullptr;
    float* d_velocity = nullptr;
    float* d_new_position = nullptr;
    float* d_new_velocity = nullptr;
    float* d_middle = nullptr;
    CUDA_OK(cudaMalloc(&d_position, NUMBERS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_velocity, NUMBERS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_new_position, NUMBERS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_new_velocity, NUMBERS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_middle, NUMBERS * sizeof(float)));
    CUDA_OK(cudaMemcpy(d_position, h_position, NUMBERS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_velocity, h_velocity, NUMBERS * sizeof(float), cudaMemcpyHostToDevice));

    CUDA_OK(cudaMemcpy(d_new_velocity, d_velocity, NUMBERS * sizeof(float), cudaMemcpyDeviceToDevice));
    dim3 block(32, 8);
    dim3 grid((COLS + 31) / 32, (ROWS + 7) / 8);
    cloth_step<<<grid, block>>>(d_position, d_middle, d_new_velocity);
    cloth_step<<<grid, block>>>(d_middle, d_new_position, d_new_velocity);
    cloth_step<<<grid, block>>>(d_new_position, d_middle, d_new_velocity);
    cloth_step<<<grid, block>>>(d_middle, d_new_position, d_new_velocity);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(h_new_position, d_new_position, NUMBERS * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(h_new_velocity, d_new_velocity, NUMBERS * sizeof(float), cudaMemcpyDeviceToHost));

    save_bin("data/new_position.bin", h_new_position, NUMBERS * sizeof(float));
    save_bin("data/new_velocity.bin", h_new_velocity, NUMBERS * sizeof(float));

    cudaFree(d_position);
    cudaFree(d_velocity);
    cudaFree(d_new_position);
    cudaFree(d_new_velocity);
    cudaFree(d_middle);
    free(h_position);
    free(h_velocity);
    free(h_new_position);
    free(h_new_velocity);
    return 0;
}
