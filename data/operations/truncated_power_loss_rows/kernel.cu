#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int ROWS = 300;
const int CLASSES = 50;
const int NUM_ELEMENTS = ROWS * CLASSES;

static bool fill_from_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

__global__ void truncated_lq_counted(const float* __restrict__ probs, const int* __restrict__ labels,
                                     float* __restrict__ loss, int* kept) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int label = i < ROWS ? labels[i] : -1;
    bool confident = false;
    float value = 0.0f;
    if (label >= 0) {
        const float p = probs[i * CLASSES + label];
        confident = p > 0.5f;
        value = (1.0f - exp2f(0.7f * log2f(confident ? p : 0.5f))) * (1.0f / 0.7f);
    }
    if (i < ROWS) loss[i] = value;
    // One atomic per block.
    const int total = __syncthreads_count(confident);
    if (threadIdx.x == 0 && total > 0) atomicAdd(kept, total);
}

int main() {
    float *probs, *loss;
    int *labels, *kept;
    cudaMallocManaged(&probs, NUM_ELEMENTS * sizeof(float));
    cudaMallocManaged(&labels, ROWS * sizeof(int));
    cudaMallocManaged(&loss, ROWS * sizeof(float));
    cudaMallocManaged(&kept, sizeof(int));

    if (!fill_from_file("data/probs.bin", probs, NUM_ELEMENTS * sizeof(float))) {
        fprintf(stderr, "cannot read data/probs.bin\n");
        return 1;
    }
    if (!fill_from_file("data/labels.bin", labels, ROWS * sizeof(int))) {
        fprintf(stderr, "cannot read data/labels.bin\n");
        return 1;
    }
    cudaMemset(kept, 0, sizeof(int));

    truncated_lq_counted<<<(ROWS + 511) / 512, 512>>>(probs, labels, loss, kept);
    cudaDeviceSynchronize();

    FILE* loss_file = fopen("data/loss.bin", "wb");
    if (!loss_file) return 1;
    fwrite(loss, sizeof(float), ROWS, loss_file);
    fclose(loss_file);
    FILE* kept_file = fopen("data/kept.bin", "wb");
    if (!kept_file) return 1;
    fwrite(kept, sizeof(int), 1, kept_file);
    fclose(kept_file);

    cudaFree(probs);
    cudaFree(labels);
    cudaFree(loss);
    cudaFree(kept);
    return 0;
}
