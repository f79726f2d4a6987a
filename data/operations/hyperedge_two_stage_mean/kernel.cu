#include <cstdio>
#include <cuda_runtime.h>

#define NODES 400
#define HYPEREDGES 300
#define SIZE 6
#define CHANNELS 16
#define THREADS 64

static bool read_data(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

// One block a hyperedge: the mean of a channel stays in a register and is passed on to the members at once.
__global__ void gather_and_pass(const int* __restrict__ member, const float* __restrict__ feature,
                                float* total, int* count) {
    __shared__ int list[SIZE];
    __shared__ int used;
    if (threadIdx.x == 0) {
        int n = 0;
        for (int k = 0; k < SIZE; ++k) {
            int v = member[blockIdx.x * SIZE + k];
            if (v >= 0) {
                list[n++] = v;
                atomicAdd(&count[v], 1);
            }
        }
        used = n;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < CHANNELS; c += THREADS) {
        float sum = 0.0f;
        for (int k = 0; k < used; ++k) sum += feature[list[k] * CHANNELS + c];
        sum /= (float)used;
        for (int k = 0; k < used; ++k) atomicAdd(&total[list[k] * CHANNELS + c], sum);
    }
}

__global__ void divide_totals(const float* feature, const int* count, float* smoothed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NODES * CHANNELS) {
        int n = count[i / CHANNELS];
        smoothed[i] = n == 0 ? feature[i] : smoothed[i] / (float)n;
    }
}

int main() {
    int* member = nullptr;
    float* feature = nullptr;
    float* smoothed = nullptr;
    int* count = nullptr;

    cudaMallocManaged(&member, HYPEREDGES * SIZE * sizeof(int));
    cudaMallocManaged(&feature, NODES * CHANNELS * sizeof(float));
    cudaMallocManaged(&smoothed, NODES * CHANNELS * sizeof(float));
    cudaMalloc(&count, NODES * sizeof(int));

    bool ok = read_data("data/member.bin", member, HYPEREDGES * SIZE * sizeof(int));
    ok = ok && read_data("data/feature.bin", feature, NODES * CHANNELS * sizeof(float));
    if (!ok) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    cudaMemset(smoothed, 0, NODES * CHANNELS * sizeof(float));
    cudaMemset(count, 0, NODES * sizeof(int));
    gather_and_pass<<<HYPEREDGES, THREADS>>>(member, feature, smoothed, count);
    divide_totals<<<(NODES * CHANNELS + 255) / 256, 256>>>(feature, count, smoothed);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(status));
        return 1;
    }

    FILE* out = fopen("data/smoothed.bin", "wb");
    fwrite(smoothed, sizeof(float), NODES * CHANNELS, out);
    fclose(out);

    cudaFree(member);
    cudaFree(feature);
    cudaFree(smoothed);
    cudaFree(count);
}
