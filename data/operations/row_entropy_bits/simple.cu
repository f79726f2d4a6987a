#include <cstdio>
#include <cuda_runtime.h>

const int ROWS = 80;
const int COLS = 256;
const int BLOCK = 256;

__global__ void row_entropy(const int* counts, float* entropy) {
    __shared__ float terms[BLOCK];
    __shared__ int totals[BLOCK];
    const int* row = counts + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    float term = 0.0f;
    int total = 0;
    for (int c = t; c < COLS; c += BLOCK) {
        int k = row[c];
        if (k > 0) {
            total += k;
            term += k * log2f((float)k);
        }
    }
    terms[t] = term;
    totals[t] = total;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) {
            terms[t] += terms[t + s];
            totals[t] += totals[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        float sum = (float)totals[0];
        entropy[blockIdx.x] = totals[0] > 0 ? log2f(sum) - terms[0] / sum : 0.0f;
    }
}

int main() {
    const size_t numel = (size_t)ROWS * COLS;
    int* counts;
    float* entropy;
    cudaMallocManaged(&counts, numel * sizeof(int));
    cudaMallocManaged(&entropy, ROWS * sizeof(float));

    FILE* fp = fopen("data/counts.bin", "rb");
    if (!fp || fread(counts, sizeof(int), numel, fp) != numel) {
        fprintf(stderr, "data/counts.bin missing or short\n");
        return 1;
    }
    fclose(fp);

    row_entropy<<<ROWS, BLOCK>>>(counts, entropy);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* fo = fopen("data/entropy.bin", "wb");
    fwrite(entropy, sizeof(float), ROWS, fo);
    fclose(fo);

    cudaFree(counts);
    cudaFree(entropy);
    return 0;
}
