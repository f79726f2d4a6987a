#include <cstdio>
#include <cuda_runtime.h>

const int ROWS = 20;
const int VOCAB = 700;

__global__ void sample_tokens(const int* weights, const unsigned int* draw, int* token, long long* total) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const int* w = weights + (size_t)r * VOCAB;
    unsigned long long sum = 0;
    for (int v = 0; v < VOCAB; v++) sum += w[v];
    unsigned long long target = draw[r] * sum >> 32;
    unsigned long long running = 0;
    int v = 0;
    while (true) {
        running += w[v];
        if (running > target) break;
        v++;
    }
    token[r] = v;
    total[r] = (long long)sum;
}

int main() {
    const size_t n_weights = ROWS * VOCAB;
    int* weights = nullptr;
    unsigned int* draw = nullptr;
    int* token = nullptr;
    long long* total = nullptr;
    cudaMallocManaged(&weights, n_weights * sizeof(int));
    cudaMallocManaged(&draw, ROWS * sizeof(unsigned int));
    cudaMallocManaged(&token, ROWS * sizeof(int));
    cudaMallocManaged(&total, ROWS * sizeof(long long));

    FILE* f_weights = fopen("data/weights.bin", "rb");
    if (!f_weights || fread(weights, sizeof(int), n_weights, f_weights) != (size_t)(n_weights)) {
        fprintf(stderr, "failed to read data/weights.bin\n");
        return 1;
    }
    fclose(f_weights);
    FILE* f_draw = fopen("data/draw.bin", "rb");
    if (!f_draw || fread(draw, sizeof(unsigned int), ROWS, f_draw) != (size_t)(ROWS)) {
        fprintf(stderr, "failed to read data/draw.bin\n");
        return 1;
    }
    fclose(f_draw);

    sample_tokens<<<(ROWS + 31) / 32, 32>>>(weights, draw, token, total);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(result));
        return 1;
    }

    FILE* out_token = fopen("data/token.bin", "wb");
    if (!out_token) return 1;
    fwrite(token, sizeof(int), ROWS, out_token);
    fclose(out_token);
    FILE* out_total = fopen("data/total.bin", "wb");
    if (!out_total) return 1;
    fwrite(total, sizeof(long long), ROWS, out_total);
    fclose(out_total);

    cudaFree(weights);
    cudaFree(draw);
    cudaFree(token);
    cudaFree(total);
    return 0;
}
