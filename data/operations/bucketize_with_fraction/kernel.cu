#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void readFile(const char* path, void* data, size_t size) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, size, file) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
}

void writeFile(const char* path, const void* data, size_t size) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(file);
}
//@given

const int COUNT = 15000;
const int EDGE_COUNT = 40;
const int THREADS = 256;
const int PER_THREAD = 8;

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// The borders are searched in shared memory; the step halves from the largest power of two not above their
// number.
__global__ void bucketize_shared(const float* __restrict__ x, const float* __restrict__ edges,
                                 int* __restrict__ bucket, float* __restrict__ fraction) {
    __shared__ float border[EDGE_COUNT];
    for (int k = threadIdx.x; k < EDGE_COUNT; k += THREADS) border[k] = edges[k];
    __syncthreads();
    int top = 1;
    while (2 * top <= EDGE_COUNT) top *= 2;
    const int base = blockIdx.x * THREADS * PER_THREAD + threadIdx.x;
    for (int j = 0; j < PER_THREAD; ++j) {
        const int i = base + j * THREADS;
        if (i >= COUNT) return;
        const float v = x[i];
        int b = 0;
        for (int s = top; s > 0; s >>= 1) {
            if (b + s <= EDGE_COUNT && border[b + s - 1] <= v) b += s;
        }
        float f = b == 0 ? 0.0f : 1.0f;
        if (b > 0 && b < EDGE_COUNT) f = (v - border[b - 1]) / (border[b] - border[b - 1]);
        bucket[i] = b;
        fraction[i] = f;
    }
}

int main() {
    float* x = (float*)malloc(COUNT * sizeof(float));
    float* edges = (float*)malloc(EDGE_COUNT * sizeof(float));
    int* bucket = (int*)malloc(COUNT * sizeof(int));
    float* fraction = (float*)malloc(COUNT * sizeof(float));
    readFile("data/x.bin", x, COUNT * sizeof(float));
    readFile("data/edges.bin", edges, EDGE_COUNT * sizeof(float));

    float* d_x;
    float* d_edges;
    int* d_bucket;
    float* d_fraction;
    cudaMalloc(&d_x, COUNT * sizeof(float));
    cudaMalloc(&d_edges, EDGE_COUNT * sizeof(float));
    cudaMalloc(&d_bucket, COUNT * sizeof(int));
    cudaMalloc(&d_fraction, COUNT * sizeof(float));

    cudaMemcpy(d_x, x, COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges, EDGE_COUNT * sizeof(float), cudaMemcpyHostToDevice);

    bucketize_shared<<<CEIL_DIV(COUNT, (THREADS * PER_THREAD)), THREADS>>>(d_x, d_edges, d_bucket, d_fraction);
    cudaError_t result = cudaGetLastError();
    if (result != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(result));
        return 1;
    }
    cudaMemcpy(bucket, d_bucket, COUNT * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(fraction, d_fraction, COUNT * sizeof(float), cudaMemcpyDeviceToHost);

    writeFile("data/bucket.bin", bucket, COUNT * sizeof(int));
    writeFile("data/fraction.bin", fraction, COUNT * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_edges);
    cudaFree(d_bucket);
    cudaFree(d_fraction);
    free(x);
    free(edges);
    free(bucket);
    free(fraction);
    return 0;
}
