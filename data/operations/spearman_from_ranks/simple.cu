#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ROWS 60
#define ITEMS 100
#define BLOCK 256

#define CHECK_CUDA(call) do {                                                              \
    cudaError_t code = (call);                                                             \
    if (code != cudaSuccess) {                                                             \
        fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(code), __LINE__); \
        exit(1);                                                                           \
    }                                                                                      \
} while (0)

__global__ void spearman(const int* rank_a, const int* rank_b, float* rho, int* footrule) {
    __shared__ long long squares[BLOCK];
    __shared__ int distances[BLOCK];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * ITEMS;
    long long s = 0;
    int f = 0;
    for (int i = t; i < ITEMS; i += BLOCK) {
        long long d = rank_a[base + i] - rank_b[base + i];
        s += d * d;
        f += (int)(d < 0 ? -d : d);
    }
    squares[t] = s;
    distances[t] = f;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) {
            squares[t] += squares[t + half];
            distances[t] += distances[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        double n = ITEMS;
        rho[blockIdx.x] = (float)(1.0 - 6.0 * squares[0] / (n * (n * n - 1.0)));
        footrule[blockIdx.x] = distances[0];
    }
}

int main() {
    const size_t n = ROWS * ITEMS;
    int* h_rank_a = (int*)malloc(n * sizeof(int));
    int* h_rank_b = (int*)malloc(n * sizeof(int));
    float* h_rho = (float*)malloc(ROWS * sizeof(float));
    int* h_footrule = (int*)malloc(ROWS * sizeof(int));

    FILE* file = fopen("data/rank_a.bin", "rb");
    if (!file || fread(h_rank_a, sizeof(int), n, file) != n) {
        fprintf(stderr, "cannot read data/rank_a.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/rank_b.bin", "rb");
    if (!file || fread(h_rank_b, sizeof(int), n, file) != n) {
        fprintf(stderr, "cannot read data/rank_b.bin\n");
        return 1;
    }
    fclose(file);

    int *d_rank_a, *d_rank_b, *d_footrule;
    float *d_rho;
    CHECK_CUDA(cudaMalloc(&d_rank_a, n * sizeof(int)));
    CHECK_CUDA(cudaMalloc(&d_rank_b, n * sizeof(int)));
    CHECK_CUDA(cudaMalloc(&d_rho, ROWS * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_footrule, ROWS * sizeof(int)));
    CHECK_CUDA(cudaMemcpy(d_rank_a, h_rank_a, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_rank_b, h_rank_b, n * sizeof(int), cudaMemcpyHostToDevice));

    spearman<<<ROWS, BLOCK>>>(d_rank_a, d_rank_b, d_rho, d_footrule);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(h_rho, d_rho, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(h_footrule, d_footrule, ROWS * sizeof(int), cudaMemcpyDeviceToHost));

    file = fopen("data/rho.bin", "wb");
    if (!file) return 1;
    fwrite(h_rho, sizeof(float), ROWS, file);
    fclose(file);
    file = fopen("data/footrule.bin", "wb");
    if (!file) return 1;
    fwrite(h_footrule, sizeof(int), ROWS, file);
    fclose(file);

    cudaFree(d_rank_a);
    cudaFree(d_rank_b);
    cudaFree(d_rho);
    cudaFree(d_footrule);
    free(h_rank_a);
    free(h_rank_b);
    free(h_rho);
    free(h_footrule);
    return 0;
}
