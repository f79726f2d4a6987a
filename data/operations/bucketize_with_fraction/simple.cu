#include <cstdio>
#include <cuda_runtime.h>

const int COUNT = 15000;
const int EDGE_COUNT = 40;

__global__ void bucketize(const float* x, const float* edges, int* bucket, float* fraction) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    float v = x[i];
    int lo = 0, hi = EDGE_COUNT;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (edges[mid] <= v) lo = mid + 1;
        else hi = mid;
    }
    bucket[i] = lo;
    if (lo == 0) fraction[i] = 0.0f;
    else if (lo == EDGE_COUNT) fraction[i] = 1.0f;
    else fraction[i] = (v - edges[lo - 1]) / (edges[lo] - edges[lo - 1]);
}

int main() {
    float *x, *edges, *fraction;
    int *bucket;
    cudaMallocManaged(&x, COUNT * sizeof(float));
    cudaMallocManaged(&edges, EDGE_COUNT * sizeof(float));
    cudaMallocManaged(&bucket, COUNT * sizeof(int));
    cudaMallocManaged(&fraction, COUNT * sizeof(float));

    FILE* fp = fopen("data/x.bin", "rb");
    if (!fp || fread(x, sizeof(float), COUNT, fp) != COUNT) {
        puts("data/x.bin");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/edges.bin", "rb");
    if (!fp || fread(edges, sizeof(float), EDGE_COUNT, fp) != EDGE_COUNT) {
        puts("data/edges.bin");
        return 1;
    }
    fclose(fp);

    bucketize<<<(COUNT + 256 - 1) / 256, 256>>>(x, edges, bucket, fraction);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(error));
        return 1;
    }

    fp = fopen("data/bucket.bin", "wb");
    fwrite(bucket, sizeof(int), COUNT, fp);
    fclose(fp);
    fp = fopen("data/fraction.bin", "wb");
    fwrite(fraction, sizeof(float), COUNT, fp);
    fclose(fp);
    cudaFree(x);
    cudaFree(edges);
    cudaFree(bucket);
    cudaFree(fraction);
    return 0;
}
