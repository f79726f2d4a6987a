#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define LINES 30
#define CELLS 250
#define STEPS 6

#define CHECK_CUDA(call) do { cudaError_t rc = (call); \
    if (rc != cudaSuccess) { \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc)); \
        exit(1); } \
    } while (0)

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

__device__ float limited(float a, float b) {
    return a * b <= 0.0f ? 0.0f : copysignf(fminf(fabsf(a), fabsf(b)), a);
}

// One block a line; faces are computed once and shared by the two cells beside them.
__global__ void advect_line(const float* profile, const float* courant, float* moved) {
    __shared__ float q[CELLS], face[CELLS];
    const float* src = profile + (size_t)blockIdx.x * CELLS;
    float* dst = moved + (size_t)blockIdx.x * CELLS;
    const float c = courant[blockIdx.x], half = 0.5f * (1.0f - c);
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) q[i] = src[i];
    for (int s = 0; s < STEPS; ++s) {
        __syncthreads();
        for (int i = threadIdx.x; i < CELLS; i += blockDim.x) {
            float left = q[i == 0 ? CELLS - 1 : i - 1];
            float right = q[i == CELLS - 1 ? 0 : i + 1];
            face[i] = q[i] + half * limited(q[i] - left, right - q[i]);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < CELLS; i += blockDim.x)
            q[i] -= c * (face[i] - face[i == 0 ? CELLS - 1 : i - 1]);
    }
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) dst[i] = q[i];
}

int main(void) {
    const size_t count = (size_t)LINES * CELLS;
    float* h_profile = (float*)malloc(count * sizeof(float));
    float* h_courant = (float*)malloc(LINES * sizeof(float));
    float* h_moved = (float*)malloc(count * sizeof(float));

    load_bin("data/profile.bin", h_profile, count * sizeof(float));
    load_bin("data/courant.bin", h_courant, LINES * sizeof(float));

    float* d_profile;
    float* d_courant;
    float* d_moved;
    CHECK_CUDA(cudaMalloc(&d_profile, count * sizeof(float)));
    CHECK_CUDA(cudaMalloc((void**)&d_courant, LINES * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_moved, count * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_profile, h_profile, count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_courant, h_courant, LINES * sizeof(float), cudaMemcpyHostToDevice));

    advect_line<<<LINES, 256>>>(d_profile, d_courant, d_moved);
    CHECK_CUDA(cudaGetLastError());

    CHECK_CUDA(cudaMemcpy(h_moved, d_moved, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* fo = fopen("data/moved.bin", "wb");
    if (!fo || fwrite(h_moved, sizeof(float), count, fo) != (size_t)count) {
        fprintf(stderr, "could not write data/moved.bin\n");
        return 1;
    }
    fclose(fo);

    cudaFree(d_profile);
    cudaFree(d_courant);
    cudaFree(d_moved);
    free(h_profile);
    free(h_courant);
    free(h_moved);
    return 0;
}
