#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ROWS 110
#define COLS 170

#define CHECK_CUDA(expr)                                                \
    do {                                                          \
        cudaError_t code = expr;                                   \
        if (code != cudaSuccess) {                                  \
            fprintf(stderr, "CUDA: %s (line %d)\n",              \
                    cudaGetErrorString(code), __LINE__);           \
            exit(EXIT_FAILURE);                                  \
        }                                                         \
    } while (0)

static void get_input(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

// Only one of the two gradients matters: for a negative speed the signs of all differences are flipped.
__global__ void upwind_step(const float* __restrict__ phi, const float* __restrict__ speed,
                            float* __restrict__ out, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const int x = i % COLS;
        const float p = phi[i], f = speed[i];
        const float sign = f < 0.0f ? -1.0f : 1.0f;
        const float left = x == 0 ? p : phi[i - 1];
        const float right = x == COLS - 1 ? p : phi[i + 1];
        const float top = i < COLS ? p : phi[i - COLS];
        const float bottom = i + COLS >= n ? p : phi[i + COLS];
        float sum = 0.0f, t;
        t = fmaxf(sign * (p - left), 0.0f);   sum += t * t;
        t = fmaxf(sign * (p - right), 0.0f);  sum += t * t;
        t = fmaxf(sign * (p - top), 0.0f);    sum += t * t;
        t = fmaxf(sign * (p - bottom), 0.0f); sum += t * t;
        out[i] = p - 0.3f * f * sqrtf(sum);
    }
}

int main() {
    const size_t n = (size_t)ROWS * COLS;
    float* h_phi = (float*)malloc(n * sizeof(float));
    float* h_speed = (float*)malloc(n * sizeof(float));
    float* h_phi_next = (float*)malloc(n * sizeof(float));

    get_input("data/phi.bin", h_phi, n * sizeof(float));
    get_input("data/speed.bin", h_speed, n * sizeof(float));

    float* d_phi;
    float* d_speed;
    float* d_phi_next;
    CHECK_CUDA(cudaMalloc((void**)&d_phi, n * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_speed, n * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_phi_next, n * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_phi, h_phi, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_speed, h_speed, n * sizeof(float), cudaMemcpyHostToDevice));

    const int cells = ROWS * COLS;
    int blocks = (cells + 255) / 256;
    if (blocks > 2048) blocks = 2048;
    upwind_step<<<blocks, 256>>>(d_phi, d_speed, d_phi_next, cells);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());

    CHECK_CUDA(cudaMemcpy(h_phi_next, d_phi_next, n * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/phi_next.bin", "wb");
    if (!out || fwrite(h_phi_next, sizeof(float), n, out) != (size_t)n) {
        fprintf(stderr, "could not write data/phi_next.bin\n");
        return 1;
    }
    fclose(out);

    free(h_phi);
    free(h_speed);
    free(h_phi_next);
    cudaFree(d_phi);
    cudaFree(d_speed);
    cudaFree(d_phi_next);
    return 0;
}
