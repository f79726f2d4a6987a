#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CK(call)                                                                        \
    do {                                                                                \
        cudaError_t e_ = (call);                                                        \
        if (e_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define N 1000
#define M 100

__device__ int side(int ax, int ay, int bx, int by, int px, int py) {
    int s = (bx - ax) * (py - ay) - (by - ay) * (px - ax);
    return (s > 0) - (s < 0);
}

__global__ void count_crossings(const int* first, const int* second, int* crossings) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int ax = first[4 * i], ay = first[4 * i + 1], bx = first[4 * i + 2], by = first[4 * i + 3];
    int count = 0;
    for (int j = 0; j < M; ++j) {
        int cx = second[4 * j], cy = second[4 * j + 1], dx = second[4 * j + 2], dy = second[4 * j + 3];
        int s1 = side(ax, ay, bx, by, cx, cy) * side(ax, ay, bx, by, dx, dy);
        int s2 = side(cx, cy, dx, dy, ax, ay) * side(cx, cy, dx, dy, bx, by);
        if (s1 < 0 && s2 < 0) ++count;
    }
    crossings[i] = count;
}

int main() {
    int* host_first = (int*)malloc(N * 4 * sizeof(int));
    int* host_second = (int*)malloc(M * 4 * sizeof(int));
    int* host_crossings = (int*)malloc(N * sizeof(int));

    FILE* f = fopen("data/first.bin", "rb");
    if (!f || fread(host_first, sizeof(int), N * 4, f) != (size_t)(N * 4)) {
        fprintf(stderr, "cannot read data/first.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/second.bin", "rb");
    if (!f || fread(host_second, sizeof(int), M * 4, f) != (size_t)(M * 4)) {
        fprintf(stderr, "cannot read data/second.bin\n");
        return 1;
    }
    fclose(f);

    int *d_first, *d_second, *d_crossings;
    CK(cudaMalloc(&d_first, N * 4 * sizeof(int)));
    CK(cudaMalloc(&d_second, M * 4 * sizeof(int)));
    CK(cudaMalloc(&d_crossings, N * sizeof(int)));
    CK(cudaMemcpy(d_first, host_first, N * 4 * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d_second, host_second, M * 4 * sizeof(int), cudaMemcpyHostToDevice));

    int threads = 128;
    count_crossings<<<(N + threads - 1) / threads, threads>>>(d_first, d_second, d_crossings);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());

    CK(cudaMemcpy(host_crossings, d_crossings, N * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/crossings.bin", "wb");
    if (!out || fwrite(host_crossings, sizeof(int), N, out) != (size_t)N) {
        fprintf(stderr, "cannot write data/crossings.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_crossings);
    free(host_first);
    free(host_second);
    free(host_crossings);
    return 0;
}
