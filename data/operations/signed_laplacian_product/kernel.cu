#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_binary(const char* path, void* ptr, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(ptr, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_binary(const char* path, const void* ptr, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(ptr, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

constexpr int kNodes = 700;
constexpr int kEntries = 5000;
constexpr int kLanes = 8;
constexpr int kBlock = 256;
constexpr int kRowsPerBlock = kBlock / kLanes;

// Eight lanes a vertex. Absolute weights and weighted neighbours are summed apart and joined at the end.
__global__ void laplacian_lanes(const int* __restrict__ row_start, const int* __restrict__ neighbor,
                                const float* __restrict__ weight, const float* __restrict__ x,
                                        float* __restrict__ y) {
    int i = blockIdx.x * kRowsPerBlock + threadIdx.x / kLanes;
    int lane = threadIdx.x % kLanes;
    float degree = 0.0f, mixed = 0.0f;
    if (i < kNodes) {
        int end = row_start[i + 1];
        for (int k = row_start[i] + lane; k < end; k += kLanes) {
            float w = weight[k];
            degree += fabsf(w);
            mixed = fmaf(w, x[neighbor[k]], mixed);
        }
    }
    for (int d = kLanes / 2; d > 0; d /= 2) {
        degree += __shfl_down_sync(0xffffffffu, degree, d, kLanes);
        mixed += __shfl_down_sync(0xffffffffu, mixed, d, kLanes);
    }
    if (i < kNodes && lane == 0) y[i] = degree * x[i] - mixed;
}

int main() {
    int* row_start = new int[kNodes + 1];
    int* neighbor = new int[kEntries];
    float* weight = new float[kEntries];
    float* x = new float[kNodes];
    float* y = new float[kNodes];
    read_binary("data/row_start.bin", row_start, (kNodes + 1) * sizeof(int));
    read_binary("data/neighbor.bin", neighbor, kEntries * sizeof(int));
    read_binary("data/weight.bin", weight, kEntries * sizeof(float));
    read_binary("data/x.bin", x, kNodes * sizeof(float));

    int *dev_row_start, *dev_neighbor;
    float *dev_weight, *dev_x, *dev_y;
    cudaMalloc(&dev_row_start, (kNodes + 1) * sizeof(int));
    cudaMalloc(&dev_neighbor, kEntries * sizeof(int));
    cudaMalloc(&dev_weight, kEntries * sizeof(float));
    cudaMalloc(&dev_x, kNodes * sizeof(float));
    cudaMalloc(&dev_y, kNodes * sizeof(float));
    cudaMemcpy(dev_row_start, row_start, (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_neighbor, neighbor, kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_weight, weight, kEntries * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_x, x, kNodes * sizeof(float), cudaMemcpyHostToDevice);

    laplacian_lanes<<<CEIL_DIV(kNodes, kRowsPerBlock), kBlock>>>(dev_row_start, dev_neighbor, dev_weight,
            dev_x, dev_y);
    cudaDeviceSynchronize();
    cudaMemcpy(y, dev_y, kNodes * sizeof(float), cudaMemcpyDeviceToHost);

    write_binary("data/y.bin", y, kNodes * sizeof(float));

    cudaFree(dev_row_start);
    cudaFree(dev_neighbor);
    cudaFree(dev_weight);
    cudaFree(dev_x);
    cudaFree(dev_y);
    delete[] row_start;
    delete[] neighbor;
    delete[] weight;
    delete[] x;
    delete[] y;
    return 0;
}
