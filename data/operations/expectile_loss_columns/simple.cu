#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHECK(x) { cudaError_t rc_ = (x); if (rc_ != cudaSuccess) {                              \
    fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(rc_)); exit(EXIT_FAILURE); } }

static void slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "%s: read failed\n", path);
        exit(1);
    }
    fclose(f);
}

static void dump(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "%s: write failed\n", path);
        exit(1);
    }
    fclose(f);
}

const int SAMPLES = 1500;
const int LEVELS = 7;

__global__ void expectile(const float* target, const float* pred, const float* tau, float* loss) {
    __shared__ float sums[256];
    int j = blockIdx.y;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < SAMPLES; i += gridDim.x * 256) {
        float d = target[i] - pred[i * LEVELS + j];
        sum += (d >= 0.0f ? tau[j] : 1.0f - tau[j]) * d * d;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(&loss[j], sums[0] / SAMPLES);
}

int main(void) {
    float* h_target = (float*)malloc(SAMPLES * sizeof(float));
    float* h_pred = (float*)malloc(SAMPLES * LEVELS * sizeof(float));
    float* h_tau = (float*)malloc(LEVELS * sizeof(float));
    float* h_loss = (float*)malloc(LEVELS * sizeof(float));
    slurp("data/target.bin", h_target, SAMPLES * sizeof(float));
    slurp("data/pred.bin", h_pred, SAMPLES * LEVELS * sizeof(float));
    slurp("data/tau.bin", h_tau, LEVELS * sizeof(float));

    float* d_target;
    float* d_pred;
    float* d_tau;
    float* d_loss;
    CHECK(cudaMalloc(&d_target, SAMPLES * sizeof(float)));
    CHECK(cudaMalloc(&d_pred, SAMPLES * LEVELS * sizeof(float)));
    CHECK(cudaMalloc(&d_tau, LEVELS * sizeof(float)));
    CHECK(cudaMalloc(&d_loss, LEVELS * sizeof(float)));
    CHECK(cudaMemcpy(d_target, h_target, SAMPLES * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_pred, h_pred, SAMPLES * LEVELS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_tau, h_tau, LEVELS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_loss, 0, LEVELS * sizeof(float)));

    expectile<<<dim3(32, LEVELS), 256>>>(d_target, d_pred, d_tau, d_loss);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h_loss, d_loss, LEVELS * sizeof(float), cudaMemcpyDeviceToHost));

    dump("data/loss.bin", h_loss, LEVELS * sizeof(float));
    cudaFree(d_target);
    cudaFree(d_pred);
    cudaFree(d_tau);
    cudaFree(d_loss);
    free(h_target);
    free(h_pred);
    free(h_tau);
    free(h_loss);
    return 0;
}
