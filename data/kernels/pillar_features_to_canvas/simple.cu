#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

// Halves are copied, not computed with, so unsigned short stands for them.
__global__ void scatter(const unsigned short* features, const int* cells, unsigned short* canvas, int pillars,
                        int channels, int height, int width) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= pillars * channels) return;
    int p = e / channels, c = e % channels;
    canvas[((size_t)c * height + cells[2 * p]) * width + cells[2 * p + 1]] = features[e];
}

static void fail(const char* text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void gpu(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

static void* readFile(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) fail(path);
    fclose(file);
    return data;
}

int main() {
    int* sizes = (int*)readFile("data/sizes.bin", 4 * sizeof(int));
    int pillars = sizes[0], channels = sizes[1], height = sizes[2], width = sizes[3];
    if (pillars < 1 || pillars > 65536 || channels < 1 || channels > 256) fail("data/sizes.bin: out of range");
    if (height < 1 || height > 1024 || width < 1 || width > 1024) fail("data/sizes.bin: out of range");
    size_t featureBytes = (size_t)pillars * channels * 2, cellBytes = (size_t)pillars * 2 * sizeof(int);
    size_t canvasBytes = (size_t)channels * height * width * 2;
    void* features = readFile("data/features.bin", featureBytes);
    int* cells = (int*)readFile("data/cells.bin", cellBytes);
    for (int p = 0; p < pillars; ++p) {
        int row = cells[2 * p], col = cells[2 * p + 1];
        if (row < 0 || row >= height || col < 0 || col >= width) fail("data/cells.bin: a cell outside the canvas");
    }
    unsigned short *dFeatures, *dCanvas;
    int* dCells;
    gpu(cudaMalloc(&dFeatures, featureBytes));
    gpu(cudaMalloc(&dCells, cellBytes));
    gpu(cudaMalloc(&dCanvas, canvasBytes));
    gpu(cudaMemcpy(dFeatures, features, featureBytes, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(dCells, cells, cellBytes, cudaMemcpyHostToDevice));
    gpu(cudaMemset(dCanvas, 0, canvasBytes));
    scatter<<<(pillars * channels + 255) / 256, 256>>>(dFeatures, dCells, dCanvas, pillars, channels, height, width);
    gpu(cudaGetLastError());
    void* canvas = malloc(canvasBytes);
    gpu(cudaMemcpy(canvas, dCanvas, canvasBytes, cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/canvas.bin", "wb");
    if (!out || fwrite(canvas, 1, canvasBytes, out) != canvasBytes || fclose(out) != 0) fail("data/canvas.bin");
    gpu(cudaFree(dFeatures));
    gpu(cudaFree(dCells));
    gpu(cudaFree(dCanvas));
    free(sizes);
    free(features);
    free(cells);
    free(canvas);
    return 0;
}
