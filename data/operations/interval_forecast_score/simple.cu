#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define SERIES 200
#define STEPS 80
#define COUNT (SERIES * STEPS)

#define CUDA_CHECK(expr) { cudaError_t rc_ = (expr); if (rc_ != cudaSuccess) {                      \
    printf("CUDA failure: %s (%s:%d)\n", cudaGetErrorString(rc_), __FILE__, __LINE__); exit(1); } }

static void fetch(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "%s: read failed\n", path);
        exit(1);
    }
    fclose(f);
}

static void put(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

__global__ void interval_score(const float* lower, const float* upper, const float* actual,
                               float* score, int* covered, int series, int steps) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= series) return;
    float sum = 0.0f;
    int inside = 0;
    for (int t = 0; t < steps; t++) {
        int i = s * steps + t;
        sum += upper[i] - lower[i];
        if (actual[i] < lower[i]) sum += 20.0f * (lower[i] - actual[i]);
        else if (actual[i] > upper[i]) sum += 20.0f * (actual[i] - upper[i]);
        else inside++;
    }
    score[s] = sum / steps;
    covered[s] = inside;
}

int main() {
    float* hLower = (float*)malloc(COUNT * sizeof(float));
    float* hUpper = (float*)malloc(COUNT * sizeof(float));
    float* hActual = (float*)malloc(COUNT * sizeof(float));
    float* hScore = (float*)malloc(SERIES * sizeof(float));
    int* hCovered = (int*)malloc(SERIES * sizeof(int));
    fetch("data/lower.bin", hLower, COUNT * sizeof(float));
    fetch("data/upper.bin", hUpper, COUNT * sizeof(float));
    fetch("data/actual.bin", hActual, COUNT * sizeof(float));

    float* d_lower;
    float* d_upper;
    float* d_actual;
    float* d_score;
    int* d_covered;
    CUDA_CHECK(cudaMalloc(&d_lower, COUNT * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_upper, COUNT * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_actual, COUNT * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_score, SERIES * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_covered, SERIES * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_lower, hLower, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_upper, hUpper, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_actual, hActual, COUNT * sizeof(float), cudaMemcpyHostToDevice));

    interval_score<<<(SERIES + 127) / 128, 128>>>(d_lower, d_upper, d_actual, d_score, d_covered, SERIES, STEPS);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(hScore, d_score, SERIES * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(hCovered, d_covered, SERIES * sizeof(int), cudaMemcpyDeviceToHost));

    put("data/score.bin", hScore, SERIES * sizeof(float));
    put("data/covered.bin", hCovered, SERIES * sizeof(int));
    cudaFree(d_lower);
    cudaFree(d_upper);
    cudaFree(d_actual);
    cudaFree(d_score);
    cudaFree(d_covered);
    free(hLower);
    free(hUpper);
    free(hActual);
    free(hScore);
    free(hCovered);
    return 0;
}
