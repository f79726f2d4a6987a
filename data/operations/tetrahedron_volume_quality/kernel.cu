#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void readData(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void writeData(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

const int VERTICES = 1000;
const int N = 3000;

static int div_up(int a, int b) { return (a + b - 1) / b; }

__device__ float3 corner(const float* points, int k) {
    const float* p = points + 3 * (size_t)k;
    return make_float3(p[0], p[1], p[2]);
}

__device__ float3 minus(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }

__device__ float inner(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ float3 outer(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// The four indices of a cell are one 16-byte load.
__global__ void tetrahedra_vectors(const float* __restrict__ points, const int4* __restrict__ cells,
                                   float* __restrict__ volume, float* __restrict__ quality) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        const int4 c = cells[i];
        const float3 a = corner(points, c.x);
        const float3 u = minus(corner(points, c.y), a);
        const float3 v = minus(corner(points, c.z), a);
        const float3 w = minus(corner(points, c.w), a);
        const float six = inner(u, outer(v, w));
        const float3 uv = minus(u, v), vw = minus(v, w), wu = minus(w, u);
        const float edges = inner(u, u) + inner(v, v) + inner(w, w) + inner(uv, uv) + inner(vw, vw) + inner(wu, wu);
        volume[i] = six / 6.0f;
        float shape = 0.0f;
        if (six > 0.0f) {
            const float root = cbrtf(0.5f * six);
            shape = 12.0f * root * root / edges;
        }
        quality[i] = shape;
    }
}

int main() {
    const size_t n_points = VERTICES * 3;
    const size_t n_cells = (size_t)N * 4;
    const size_t bytes_points = n_points * sizeof(float);
    const size_t bytes_cells = n_cells * sizeof(int);
    const size_t bytes_volume = N * sizeof(float);
    const size_t bytes_quality = N * sizeof(float);
    float* h_points = (float*)malloc(bytes_points);
    int* h_cells = (int*)malloc(bytes_cells);
    float* h_volume = (float*)malloc(bytes_volume);
    float* h_quality = (float*)malloc(bytes_quality);
    readData("data/points.bin", h_points, bytes_points);
    readData("data/cells.bin", h_cells, bytes_cells);

    float *d_points, *d_volume, *d_quality;
    int *d_cells;
    cudaMalloc(&d_points, bytes_points);
    cudaMalloc(&d_cells, bytes_cells);
    cudaMalloc(&d_volume, bytes_volume);
    cudaMalloc(&d_quality, bytes_quality);
    cudaMemcpy(d_points, h_points, bytes_points, cudaMemcpyHostToDevice);
    cudaMemcpy(d_cells, h_cells, bytes_cells, cudaMemcpyHostToDevice);

    const int blocks = div_up(N, 256);
    tetrahedra_vectors<<<blocks < 2048 ? blocks : 2048, 256>>>(d_points, (const int4*)d_cells, d_volume, d_quality);

    cudaMemcpy(h_volume, d_volume, bytes_volume, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_quality, d_quality, bytes_quality, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    writeData("data/volume.bin", h_volume, bytes_volume);
    writeData("data/quality.bin", h_quality, bytes_quality);

    cudaFree(d_points);
    cudaFree(d_cells);
    cudaFree(d_volume);
    cudaFree(d_quality);
    free(h_points);
    free(h_cells);
    free(h_volume);
    free(h_quality);
    return 0;
}
