#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

__global__ void density(const int16_t* points, int* counts, int n, long long limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = 0;
    for (int j = 0; j < n; ++j) {
        long long dx = points[3 * j] - points[3 * i];
        long long dy = points[3 * j + 1] - points[3 * i + 1];
        long long dz = points[3 * j + 2] - points[3 * i + 2];
        if (j != i && dx * dx + dy * dy + dz * dz <= limit) ++count;
    }
    counts[i] = count;
}

static void die(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static void gpu(cudaError_t status) {
    if (status != cudaSuccess) die(cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, long bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) die(path);
    fseek(f, 0, SEEK_END);
    if (ftell(f) != bytes) die("a file has the wrong length");
    rewind(f);
    if (fread(data, 1, bytes, f) != (size_t)bytes) die(path);
    fclose(f);
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    int n = sizes[0], radius = sizes[1];
    if (n < 1 || n > 65536 || radius < 1 || radius > 16384) die("data/sizes.bin: out of range");

    // Managed memory: the same pointers serve the files and the kernel.
    int16_t* points;
    int* counts;
    gpu(cudaMallocManaged(&points, n * 3 * sizeof(int16_t)));
    gpu(cudaMallocManaged(&counts, n * sizeof(int)));
    readFile("data/points.bin", points, n * 3 * (long)sizeof(int16_t));

    density<<<(n + 63) / 64, 64>>>(points, counts, n, (long long)radius * radius);
    gpu(cudaGetLastError());
    gpu(cudaDeviceSynchronize());

    FILE* f = fopen("data/density.bin", "wb");
    if (!f || fwrite(counts, sizeof(int), n, f) != (size_t)n || fclose(f)) die("data/density.bin: not written");
    gpu(cudaFree(points));
    gpu(cudaFree(counts));
    return 0;
}
