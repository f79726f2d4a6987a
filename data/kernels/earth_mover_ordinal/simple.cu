#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void earthMover(const float* predicted, const float* target, const float* position, float* distance,
                           float* squared, int rows, int bins) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float flow = 0.0f, linear = 0.0f, square = 0.0f;
    for (int k = 0; k + 1 < bins; ++k) {
        flow += predicted[(size_t)r * bins + k] - target[(size_t)r * bins + k];
        float gap = position[k + 1] - position[k];
        linear += fabsf(flow) * gap;
        square += flow * flow * gap;
    }
    distance[r] = linear;
    squared[r] = square;
}

static void quit(const char* why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void gpu(cudaError_t status) {
    if (status != cudaSuccess) quit(cudaGetErrorString(status));
}

static void readInto(const char* path, void* managed, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(managed, 1, bytes, f) != bytes || fgetc(f) != EOF) quit(path);
    fclose(f);
}

static void writeFrom(const char* path, const void* managed, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(managed, 1, bytes, f) != bytes || fclose(f)) quit(path);
}

int main() {
    int sizes[2];
    readInto("data/sizes.bin", sizes, sizeof sizes);
    int rows = sizes[0], bins = sizes[1];
    if (rows < 1 || rows > 1000000 || bins < 1 || bins > 4096) quit("sizes out of range");
    size_t bytes = (size_t)rows * bins * sizeof(float);
    float *predicted, *target, *position, *distance, *squared;
    gpu(cudaMallocManaged(&predicted, bytes));
    gpu(cudaMallocManaged(&target, bytes));
    gpu(cudaMallocManaged(&position, bins * sizeof(float)));
    gpu(cudaMallocManaged(&distance, rows * sizeof(float)));
    gpu(cudaMallocManaged(&squared, rows * sizeof(float)));
    readInto("data/predicted.bin", predicted, bytes);
    readInto("data/target.bin", target, bytes);
    readInto("data/position.bin", position, bins * sizeof(float));
    earthMover<<<(rows + 127) / 128, 128>>>(predicted, target, position, distance, squared, rows, bins);
    gpu(cudaGetLastError());
    gpu(cudaDeviceSynchronize());
    writeFrom("data/distance.bin", distance, rows * sizeof(float));
    writeFrom("data/squared.bin", squared, rows * sizeof(float));
    return 0;
}
