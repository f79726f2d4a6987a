#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int SAMPLES = 1500;
static const int LEVELS = 7;

inline void must(cudaError_t code, const char* msg) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s failed (%s)\n", msg, cudaGetErrorString(code));
        exit(1);
    }
}

static bool readFile(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    const bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

// A thread reads its whole row of predictions, so that every byte is loaded once and in order.
__global__ void expectile_rows(const float* __restrict__ target, const float* __restrict__ pred,
                               const float* __restrict__ tau, float* loss) {
    __shared__ float total[LEVELS];
    for (int j = threadIdx.x; j < LEVELS; j += blockDim.x) total[j] = 0.0f;
    __syncthreads();
    float sum[LEVELS], level[LEVELS];
    for (int j = 0; j < LEVELS; ++j) {
        sum[j] = 0.0f;
        level[j] = tau[j];
    }
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SAMPLES; i += gridDim.x * blockDim.x) {
        const float y = target[i];
        const float* p = pred + (size_t)i * LEVELS;
        for (int j = 0; j < LEVELS; ++j) {
            const float d = y - p[j];
            sum[j] += fabsf(level[j] - (d < 0.0f ? 1.0f : 0.0f)) * d * d;
        }
    }
    for (int j = 0; j < LEVELS; ++j) {
        float v = sum[j];
        for (int s = 16; s > 0; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
        if (threadIdx.x % 32 == 0) atomicAdd(&total[j], v);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < LEVELS; j += blockDim.x) atomicAdd(&loss[j], total[j] / SAMPLES);
}

int main() {
    std::vector<float> h_target(SAMPLES), h_pred(SAMPLES * LEVELS), h_tau(LEVELS), h_loss(LEVELS);
    if (!readFile("data/target.bin", h_target.data(), SAMPLES * sizeof(float))) {
        fprintf(stderr, "cannot read data/target.bin\n");
        return 1;
    }
    if (!readFile("data/pred.bin", h_pred.data(), SAMPLES * LEVELS * sizeof(float))) {
        fprintf(stderr, "cannot read data/pred.bin\n");
        return 1;
    }
    if (!readFile("data/tau.bin", h_tau.data(), LEVELS * sizeof(float))) {
        fprintf(stderr, "cannot read data/tau.bin\n");
        return 1;
    }

    float *d_target, *d_pred, *d_tau, *d_loss;
    must(cudaMalloc(&d_target, SAMPLES * sizeof(float)), "malloc target");
    must(cudaMalloc(&d_pred, SAMPLES * LEVELS * sizeof(float)), "malloc pred");
    must(cudaMalloc(&d_tau, LEVELS * sizeof(float)), "malloc tau");
    must(cudaMalloc(&d_loss, LEVELS * sizeof(float)), "malloc loss");
    must(cudaMemcpy(d_target, h_target.data(), SAMPLES * sizeof(float), cudaMemcpyHostToDevice), "memcpy target");
    must(cudaMemcpy(d_pred, h_pred.data(), SAMPLES * LEVELS * sizeof(float), cudaMemcpyHostToDevice), "memcpy pred");
    must(cudaMemcpy(d_tau, h_tau.data(), LEVELS * sizeof(float), cudaMemcpyHostToDevice), "memcpy tau");
    must(cudaMemset(d_loss, 0, LEVELS * sizeof(float)), "memset");

    expectile_rows<<<128, 128>>>(d_target, d_pred, d_tau, d_loss);
    must(cudaGetLastError(), "launch");

    must(cudaMemcpy(h_loss.data(), d_loss, LEVELS * sizeof(float), cudaMemcpyDeviceToHost), "memcpy loss");
    if (!writeFile("data/loss.bin", h_loss.data(), LEVELS * sizeof(float))) {
        fprintf(stderr, "cannot write data/loss.bin\n");
        return 1;
    }
    cudaFree(d_target);
    cudaFree(d_pred);
    cudaFree(d_tau);
    cudaFree(d_loss);
    return 0;
}
