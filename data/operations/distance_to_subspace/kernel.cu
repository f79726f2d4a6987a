#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CUDA_OK(call) \
    do { \
        cudaError_t code_ = (call); \
        if (code_ != cudaSuccess) { \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(code_)); \
            exit(1); \
        } \
    } while (0)

#define POINTS 150
#define DIM 60
#define K 3

// One warp per point; basis and origin are staged once per block.
__global__ void subspace_warps(const float* __restrict__ x, const float* __restrict__ origin,
                               const float* __restrict__ basis, float* __restrict__ distance,
                               float* __restrict__ coords) {
    __shared__ float frame[K * DIM];
    __shared__ float base[DIM];
    __shared__ float offset[8][DIM];
    for (int e = threadIdx.x; e < K * DIM; e += 256) frame[e] = basis[e];
    for (int e = threadIdx.x; e < DIM; e += 256) base[e] = origin[e];
    __syncthreads();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* d = offset[warp];
    for (int p = blockIdx.x * 8 + warp; p < POINTS; p += gridDim.x * 8) {
        for (int i = lane; i < DIM; i += 32) d[i] = x[(size_t)p * DIM + i] - base[i];
        float c[K];
        for (int j = 0; j < K; ++j) {
            float sum = 0.0f;
            for (int i = lane; i < DIM; i += 32) sum = fmaf(d[i], frame[j * DIM + i], sum);
            for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
            c[j] = sum;
            if (lane == 0) coords[p * K + j] = sum;
        }
        float square = 0.0f;
        for (int i = lane; i < DIM; i += 32) {
            float rest = d[i];
            for (int j = 0; j < K; ++j) rest = fmaf(-c[j], frame[j * DIM + i], rest);
            square = fmaf(rest, rest, square);
        }
        for (int s = 16; s > 0; s >>= 1) square += __shfl_xor_sync(0xffffffffu, square, s);
        if (lane == 0) distance[p] = sqrtf(square);
    }
}

static void load_data(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "bad input file %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void store_data(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main(void) {
    const size_t x_size = (size_t)POINTS * DIM;
    const size_t basis_size = (size_t)K * DIM;
    const size_t coords_size = (size_t)POINTS * K;
    float* h_x = (float*)malloc(x_size * sizeof(float));
    float* h_origin = (float*)malloc(DIM * sizeof(float));
    float* h_basis = (float*)malloc(basis_size * sizeof(float));
    float* h_distance = (float*)malloc(POINTS * sizeof(float));
    float* h_coords = (float*)malloc(coords_size * sizeof(float));
    load_data("data/x.bin", h_x, x_size * sizeof(float));
    load_data("data/origin.bin", h_origin, DIM * sizeof(float));
    load_data("data/basis.bin", h_basis, basis_size * sizeof(float));

    float *d_x, *d_origin, *d_basis, *d_distance, *d_coords;
    CUDA_OK(cudaMalloc(&d_x, x_size * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_origin, DIM * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_basis, basis_size * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_distance, POINTS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_coords, coords_size * sizeof(float)));
    CUDA_OK(cudaMemcpy(d_x, h_x, x_size * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_origin, h_origin, DIM * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_basis, h_basis, basis_size * sizeof(float), cudaMemcpyHostToDevice));
    const int wanted = (POINTS + 7) / 8;
    subspace_warps<<<wanted < 1024 ? wanted : 1024, 256>>>(d_x, d_origin, d_basis, d_distance, d_coords);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());

    CUDA_OK(cudaMemcpy(h_distance, d_distance, POINTS * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(h_coords, d_coords, coords_size * sizeof(float), cudaMemcpyDeviceToHost));
    store_data("data/distance.bin", h_distance, POINTS * sizeof(float));
    store_data("data/coords.bin", h_coords, coords_size * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_origin);
    cudaFree(d_basis);
    cudaFree(d_distance);
    cudaFree(d_coords);
    free(h_x);
    free(h_origin);
    free(h_basis);
    free(h_distance);
    free(h_coords);
    return 0;
}
