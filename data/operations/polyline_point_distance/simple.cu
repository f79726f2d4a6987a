#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK_CUDA(call)                                                                \
    do {                                                                                \
        cudaError_t e_ = (call);                                                        \
        if (e_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define N 3000
#define M 17

__global__ void polyline_distance(const float* points, const float* vertices, float* distance) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float px = points[2 * i];
    float py = points[2 * i + 1];
    float best = INFINITY;
    for (int j = 0; j < M - 1; ++j) {
        float ax = vertices[2 * j], ay = vertices[2 * j + 1];
        float ex = vertices[2 * j + 2] - ax;
        float ey = vertices[2 * j + 3] - ay;
        float len2 = ex * ex + ey * ey;
        float t = 0.0f;
        if (len2 > 0.0f) {
            t = ((px - ax) * ex + (py - ay) * ey) / len2;
            t = fminf(fmaxf(t, 0.0f), 1.0f);
        }
        float dx = px - (ax + t * ex);
        float dy = py - (ay + t * ey);
        best = fminf(best, sqrtf(dx * dx + dy * dy));
    }
    distance[i] = best;
}

int main() {
    float* h_points = (float*)malloc(N * 2 * sizeof(float));
    float* h_vertices = (float*)malloc(M * 2 * sizeof(float));
    float* h_distance = (float*)malloc(N * sizeof(float));

    FILE* f = fopen("data/points.bin", "rb");
    if (!f || fread(h_points, sizeof(float), N * 2, f) != (size_t)(N * 2)) {
        fprintf(stderr, "cannot read data/points.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/vertices.bin", "rb");
    if (!f || fread(h_vertices, sizeof(float), M * 2, f) != (size_t)(M * 2)) {
        fprintf(stderr, "cannot read data/vertices.bin\n");
        return 1;
    }
    fclose(f);

    float *d_points, *d_vertices, *d_distance;
    CHECK_CUDA(cudaMalloc(&d_points, N * 2 * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_vertices, M * 2 * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_distance, N * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_points, h_points, N * 2 * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_vertices, h_vertices, M * 2 * sizeof(float), cudaMemcpyHostToDevice));

    int threads = 256;
    polyline_distance<<<(N + threads - 1) / threads, threads>>>(d_points, d_vertices, d_distance);
    CHECK_CUDA(cudaGetLastError());

    CHECK_CUDA(cudaMemcpy(h_distance, d_distance, N * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/distance.bin", "wb");
    if (!out || fwrite(h_distance, sizeof(float), N, out) != (size_t)N) {
        fprintf(stderr, "cannot write data/distance.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_points);
    cudaFree(d_vertices);
    cudaFree(d_distance);
    free(h_points);
    free(h_vertices);
    free(h_distance);
    return 0;
}
