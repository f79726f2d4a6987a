#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int SAMPLES = 600;
static const int OUTPUTS = 12;

static void check_cuda(cudaError_t result, const char* step) {
    if (result != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(result));
        exit(1);
    }
}

static bool read_raw(const char* path, void* ptr, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    const bool ok = fread(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool write_raw(const char* path, const void* ptr, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void accumulate(const float* pred, const float* target, const float* weight, double* sums) {
    __shared__ double top[256], bottom[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    top[t] = 0.0;
    bottom[t] = 0.0;
    if (i < SAMPLES) {
        float w = weight[i], fair = 0.0f;
        for (int k = 0; k < OUTPUTS; k++) {
            float a = fabsf(pred[i * OUTPUTS + k] - target[i * OUTPUTS + k]) / 1.3998f;
            fair += a - log1pf(a);
        }
        top[t] = w * fair;
        bottom[t] = w;
    }
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            top[t] += top[t + s];
            bottom[t] += bottom[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(&sums[0], top[0]);
        atomicAdd(&sums[1], bottom[0]);
    }
}

__global__ void divide(const double* sums, float* loss) {
    loss[0] = (float)(1.3998 * 1.3998 * sums[0] / sums[1]);
}

int main() {
    std::vector<float> hPred(SAMPLES * OUTPUTS);
    std::vector<float> hTarget(SAMPLES * OUTPUTS);
    std::vector<float> hWeight(SAMPLES);
    std::vector<float> hLoss(1);
    if (!read_raw("data/pred.bin", hPred.data(), SAMPLES * OUTPUTS * sizeof(float)) ||
        !read_raw("data/target.bin", hTarget.data(), SAMPLES * OUTPUTS * sizeof(float)) ||
        !read_raw("data/weight.bin", hWeight.data(), SAMPLES * sizeof(float))) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    float* dev_pred;
    float* dev_target;
    float* dev_weight;
    float* dev_loss;
    double* dev_sums;
    check_cuda(cudaMalloc(&dev_pred, SAMPLES * OUTPUTS * sizeof(float)), "malloc pred");
    check_cuda(cudaMalloc(&dev_target, SAMPLES * OUTPUTS * sizeof(float)), "malloc target");
    check_cuda(cudaMalloc(&dev_weight, SAMPLES * sizeof(float)), "malloc weight");
    check_cuda(cudaMalloc(&dev_loss, sizeof(float)), "malloc loss");
    check_cuda(cudaMalloc(&dev_sums, 2 * sizeof(double)), "malloc sums");
    check_cuda(cudaMemcpy(dev_pred, hPred.data(), SAMPLES * OUTPUTS * sizeof(float), cudaMemcpyHostToDevice),
            "copy pred in");
    check_cuda(cudaMemcpy(dev_target, hTarget.data(), SAMPLES * OUTPUTS * sizeof(float),
            cudaMemcpyHostToDevice), "copy target in");
    check_cuda(cudaMemcpy(dev_weight, hWeight.data(), SAMPLES * sizeof(float), cudaMemcpyHostToDevice),
            "copy weight in");
    check_cuda(cudaMemset(dev_sums, 0, 2 * sizeof(double)), "memset");

    accumulate<<<(SAMPLES + 255) / 256, 256>>>(dev_pred, dev_target, dev_weight, dev_sums);
    divide<<<1, 1>>>(dev_sums, dev_loss);
    check_cuda(cudaGetLastError(), "kernel");
    check_cuda(cudaDeviceSynchronize(), "synchronize");

    check_cuda(cudaMemcpy(hLoss.data(), dev_loss, sizeof(float), cudaMemcpyDeviceToHost), "copy loss out");
    if (!write_raw("data/loss.bin", hLoss.data(), sizeof(float))) {
        fprintf(stderr, "cannot write data/loss.bin\n");
        return 1;
    }
    cudaFree(dev_pred);
    cudaFree(dev_target);
    cudaFree(dev_weight);
    cudaFree(dev_loss);
    cudaFree(dev_sums);
    return 0;
}
