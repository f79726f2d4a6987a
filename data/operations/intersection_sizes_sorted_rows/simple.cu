#include <cstdio>
#include <cuda_runtime.h>

static const int ROWS = 100;
static const int LEN_A = 50;
static const int LEN_B = 80;

__global__ void overlap(const int* first, const int* second, int* common, float* jaccard) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const int* a = first + (size_t)r * LEN_A;
    const int* b = second + (size_t)r * LEN_B;
    int i = 0, j = 0, same = 0;
    while (i < LEN_A && j < LEN_B) {
        if (a[i] == b[j]) {
            ++same;
            ++i;
            ++j;
        } else if (a[i] < b[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    common[r] = same;
    jaccard[r] = (float)same / (float)(LEN_A + LEN_B - same);
}

int main() {
    const size_t num_first = (size_t)ROWS * LEN_A;
    const size_t num_second = ROWS * LEN_B;
    int *first, *second, *common;
    float *jaccard;
    cudaMallocManaged(&first, num_first * sizeof(int));
    cudaMallocManaged(&second, num_second * sizeof(int));
    cudaMallocManaged(&common, ROWS * sizeof(int));
    cudaMallocManaged(&jaccard, ROWS * sizeof(float));

    FILE* in = fopen("data/first.bin", "rb");
    if (in == NULL || fread(first, sizeof(int), num_first, in) != num_first) {
        fprintf(stderr, "bad input: data/first.bin\n");
        return 1;
    }
    fclose(in);
    in = fopen("data/second.bin", "rb");
    if (in == NULL || fread(second, sizeof(int), num_second, in) != num_second) {
        fprintf(stderr, "bad input: data/second.bin\n");
        return 1;
    }
    fclose(in);

    overlap<<<(ROWS + 64 - 1) / 64, 64>>>(first, second, common, jaccard);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/common.bin", "wb");
    fwrite(common, sizeof(int), ROWS, out);
    fclose(out);
    out = fopen("data/jaccard.bin", "wb");
    fwrite(jaccard, sizeof(float), ROWS, out);
    fclose(out);
    cudaFree(first);
    cudaFree(second);
    cudaFree(common);
    cudaFree(jaccard);
    return 0;
}
