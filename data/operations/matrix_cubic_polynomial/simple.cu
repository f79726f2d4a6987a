#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define TRY(call) \
    do { \
        const cudaError_t code_ = (call); \
        if (code_) { \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(code_)); \
            exit(2); \
        } \
    } while (0)

#define COUNT 60
#define N 16

// One block per matrix, one thread per entry.
__global__ void matrix_cubic(const float* a, const float* coef, float* p) {
    __shared__ float m[N][N];
    __shared__ float square[N][N];
    int i = threadIdx.y, j = threadIdx.x;
    int at = (blockIdx.x * N + i) * N + j;
    m[i][j] = a[at];
    __syncthreads();
    float s2 = 0.0f;
    for (int k = 0; k < N; ++k) s2 += m[i][k] * m[k][j];
    square[i][j] = s2;
    __syncthreads();
    float s3 = 0.0f;
    for (int k = 0; k < N; ++k) s3 += square[i][k] * m[k][j];
    float value = coef[1] * m[i][j] + coef[2] * s2 + coef[3] * s3;
    if (i == j) value += coef[0];
    p[at] = value;
}

static void slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

static void dump(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main() {
    const size_t a_count = (size_t)COUNT * N * N;
    float* a = (float*)malloc(a_count * sizeof(float));
    float* coef = (float*)malloc(4 * sizeof(float));
    float* p = (float*)malloc(a_count * sizeof(float));
    slurp("data/a.bin", a, a_count * sizeof(float));
    slurp("data/coef.bin", coef, 4 * sizeof(float));

    float *d_a, *d_coef, *d_p;
    TRY(cudaMalloc(&d_a, a_count * sizeof(float)));
    TRY(cudaMalloc(&d_coef, 4 * sizeof(float)));
    TRY(cudaMalloc(&d_p, a_count * sizeof(float)));
    TRY(cudaMemcpy(d_a, a, a_count * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(d_coef, coef, 4 * sizeof(float), cudaMemcpyHostToDevice));

    dim3 threads(N, N);
    matrix_cubic<<<COUNT, threads>>>(d_a, d_coef, d_p);
    TRY(cudaGetLastError());

    TRY(cudaMemcpy(p, d_p, a_count * sizeof(float), cudaMemcpyDeviceToHost));
    dump("data/p.bin", p, a_count * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_coef);
    cudaFree(d_p);
    free(a);
    free(coef);
    free(p);
    return 0;
}
