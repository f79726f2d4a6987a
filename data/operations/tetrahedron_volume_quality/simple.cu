#include <cstdio>
#include <cuda_runtime.h>

#define VERTICES 1000
#define N 3000

__global__ void tetrahedra(const float* points, const int* cells, float* volume, float* quality) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float p[4][3];
    for (int k = 0; k < 4; ++k) {
        for (int axis = 0; axis < 3; ++axis) p[k][axis] = points[3 * cells[4 * i + k] + axis];
    }
    float u[3], v[3], w[3];
    for (int axis = 0; axis < 3; ++axis) {
        u[axis] = p[1][axis] - p[0][axis];
        v[axis] = p[2][axis] - p[0][axis];
        w[axis] = p[3][axis] - p[0][axis];
    }
    float vol = u[0] * (v[1] * w[2] - v[2] * w[1]);
    vol += u[1] * (v[2] * w[0] - v[0] * w[2]);
    vol += u[2] * (v[0] * w[1] - v[1] * w[0]);
    vol /= 6.0f;
    float edges = 0.0f;
    for (int a = 0; a < 4; ++a) {
        for (int b = a + 1; b < 4; ++b) {
            for (int axis = 0; axis < 3; ++axis) {
                float d = p[a][axis] - p[b][axis];
                edges += d * d;
            }
        }
    }
    volume[i] = vol;
    quality[i] = vol > 0.0f ? 12.0f * powf(3.0f * vol, 2.0f / 3.0f) / edges : 0.0f;
}

int main() {
    const size_t pointsSize = VERTICES * 3;
    const size_t cellsSize = (size_t)N * 4;
    float *points, *volume, *quality;
    int *cells;
    cudaMallocManaged(&points, pointsSize * sizeof(float));
    cudaMallocManaged(&cells, cellsSize * sizeof(int));
    cudaMallocManaged(&volume, N * sizeof(float));
    cudaMallocManaged(&quality, N * sizeof(float));

    FILE* in = fopen("data/points.bin", "rb");
    if (in == NULL || fread(points, sizeof(float), pointsSize, in) != pointsSize) {
        fprintf(stderr, "bad input: data/points.bin\n");
        return 1;
    }
    fclose(in);
    in = fopen("data/cells.bin", "rb");
    if (in == NULL || fread(cells, sizeof(int), cellsSize, in) != cellsSize) {
        fprintf(stderr, "bad input: data/cells.bin\n");
        return 1;
    }
    fclose(in);

    int block = 128;
    tetrahedra<<<(N + block - 1) / block, block>>>(points, cells, volume, quality);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/volume.bin", "wb");
    fwrite(volume, sizeof(float), N, out);
    fclose(out);
    out = fopen("data/quality.bin", "wb");
    fwrite(quality, sizeof(float), N, out);
    fclose(out);
    cudaFree(points);
    cudaFree(cells);
    cudaFree(volume);
    cudaFree(quality);
    return 0;
}
