#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(expr)                                                                        \
    do {                                                                                       \
        cudaError_t err = (expr);                                                              \
        if (err != cudaSuccess) {                                                              \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(err)); \
            exit(EXIT_FAILURE);                                                                \
        }                                                                                      \
    } while (0)

#define N 4000

__global__ void locate(const float* longitude, const float* latitude, const int* zoom, int* tiles, float* local) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float pi = 3.14159265f;
    float phi = latitude[i] * pi / 180.0f;
    float u = (longitude[i] + 180.0f) / 360.0f;
    float v = 0.5f - logf(tanf(phi) + 1.0f / cosf(phi)) / (2.0f * pi);
    int size = 1 << zoom[i];
    u *= size;
    v *= size;
    int x = min(max((int)floorf(u), 0), size - 1);
    int y = min(max((int)floorf(v), 0), size - 1);
    tiles[2 * i] = x;
    tiles[2 * i + 1] = y;
    local[2 * i] = u - x;
    local[2 * i + 1] = v - y;
}

int main() {
    float* h_longitude = (float*)malloc(N * sizeof(float));
    float* h_latitude = (float*)malloc(N * sizeof(float));
    int* h_zoom = (int*)malloc(N * sizeof(int));
    int* h_tiles = (int*)malloc(N * 2 * sizeof(int));
    float* h_local = (float*)malloc(N * 2 * sizeof(float));

    FILE* fp = fopen("data/longitude.bin", "rb");
    if (!fp || fread(h_longitude, sizeof(float), N, fp) != (size_t)N) {
        fprintf(stderr, "cannot read data/longitude.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/latitude.bin", "rb");
    if (!fp || fread(h_latitude, sizeof(float), N, fp) != (size_t)N) {
        fprintf(stderr, "cannot read data/latitude.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/zoom.bin", "rb");
    if (!fp || fread(h_zoom, sizeof(int), N, fp) != (size_t)N) {
        fprintf(stderr, "cannot read data/zoom.bin\n");
        return 1;
    }
    fclose(fp);

    float* d_longitude;
    float* d_latitude;
    int* d_zoom;
    int* d_tiles;
    float* d_local;
    gpuErrchk(cudaMalloc(&d_longitude, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_latitude, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_zoom, N * sizeof(int)));
    gpuErrchk(cudaMalloc(&d_tiles, N * 2 * sizeof(int)));
    gpuErrchk(cudaMalloc(&d_local, N * 2 * sizeof(float)));
    gpuErrchk(cudaMemcpy(d_longitude, h_longitude, N * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_latitude, h_latitude, N * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_zoom, h_zoom, N * sizeof(int), cudaMemcpyHostToDevice));

    locate<<<(N + 256 - 1) / 256, 256>>>(d_longitude, d_latitude, d_zoom, d_tiles, d_local);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());

    gpuErrchk(cudaMemcpy(h_tiles, d_tiles, N * 2 * sizeof(int), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(h_local, d_local, N * 2 * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/tiles.bin", "wb");
    if (!out || fwrite(h_tiles, sizeof(int), N * 2, out) != (size_t)(N * 2)) {
        fprintf(stderr, "cannot write data/tiles.bin\n");
        return 1;
    }
    fclose(out);
    out = fopen("data/local.bin", "wb");
    if (!out || fwrite(h_local, sizeof(float), N * 2, out) != (size_t)(N * 2)) {
        fprintf(stderr, "cannot write data/local.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_longitude);
    cudaFree(d_latitude);
    cudaFree(d_zoom);
    cudaFree(d_tiles);
    cudaFree(d_local);
    free(h_longitude);
    free(h_latitude);
    free(h_zoom);
    free(h_tiles);
    free(h_local);
    return 0;
}
