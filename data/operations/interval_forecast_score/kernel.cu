#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t code, const char* msg) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s failed (%s)\n", msg, cudaGetErrorString(code));
        exit(EXIT_FAILURE);
    }
}

bool readFile(const char* path, void* dst, size_t size) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    const bool ok = fread(dst, 1, size, f) == size;
    fclose(f);
    return ok;
}

bool writeFile(const char* path, const void* dst, size_t size) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(dst, 1, size, f) == size;
    fclose(f);
    return ok;
}

constexpr int kSeries = 200;
constexpr int kSteps = 80;

__global__ void interval_score_warp(const float* __restrict__ lower, const float* __restrict__ upper,
                                    const float* __restrict__ actual, float* __restrict__ score,
                                    int* __restrict__ covered) {
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    if (s >= kSeries) return;
    float width = 0.0f, miss = 0.0f;
    int outside = 0;
    for (int t = threadIdx.x; t < kSteps; t += 32) {
        const size_t i = (size_t)s * kSteps + t;
        const float lo = lower[i], up = upper[i], y = actual[i];
        const float m = fmaxf(0.0f, fmaxf(lo - y, y - up));
        width += up - lo;
        miss += m;
        outside += m > 0.0f;
    }
    for (int d = 16; d > 0; d /= 2) {
        width += __shfl_down_sync(0xffffffffu, width, d);
        miss += __shfl_down_sync(0xffffffffu, miss, d);
        outside += __shfl_down_sync(0xffffffffu, outside, d);
    }
    if (threadIdx.x == 0) {
        score[s] = (width + 20.0f * miss) / kSteps;
        covered[s] = kSteps - outside;
    }
}

int main() {
    std::vector<float> h_lower(kSeries * kSteps);
    std::vector<float> h_upper(kSeries * kSteps);
    std::vector<float> h_actual(kSeries * kSteps);
    std::vector<float> h_score(kSeries);
    std::vector<int> h_covered(kSeries);
    if (!readFile("data/lower.bin", h_lower.data(), h_lower.size() * sizeof(float)) ||
        !readFile("data/upper.bin", h_upper.data(), h_upper.size() * sizeof(float)) ||
        !readFile("data/actual.bin", h_actual.data(), h_actual.size() * sizeof(float))) {
        fprintf(stderr, "input missing\n");
        return 1;
    }

    float* dev_lower;
    float* dev_upper;
    float* dev_actual;
    float* dev_score;
    int* dev_covered;
    checkCuda(cudaMalloc(&dev_lower, kSeries * kSteps * sizeof(float)), "malloc lower");
    checkCuda(cudaMalloc(&dev_upper, kSeries * kSteps * sizeof(float)), "malloc upper");
    checkCuda(cudaMalloc(&dev_actual, kSeries * kSteps * sizeof(float)), "malloc actual");
    checkCuda(cudaMalloc(&dev_score, kSeries * sizeof(float)), "malloc score");
    checkCuda(cudaMalloc(&dev_covered, kSeries * sizeof(int)), "malloc covered");
    checkCuda(cudaMemcpy(dev_lower, h_lower.data(), h_lower.size() * sizeof(float), cudaMemcpyHostToDevice),
            "memcpy lower");
    checkCuda(cudaMemcpy(dev_upper, h_upper.data(), h_upper.size() * sizeof(float), cudaMemcpyHostToDevice),
            "memcpy upper");
    checkCuda(cudaMemcpy(dev_actual, h_actual.data(), h_actual.size() * sizeof(float), cudaMemcpyHostToDevice),
            "memcpy actual");

    interval_score_warp<<<(kSeries + 3) / 4, dim3(32, 4)>>>(dev_lower, dev_upper, dev_actual, dev_score, dev_covered);
    checkCuda(cudaGetLastError(), "kernel");
    checkCuda(cudaDeviceSynchronize(), "synchronize");

    checkCuda(cudaMemcpy(h_score.data(), dev_score, h_score.size() * sizeof(float), cudaMemcpyDeviceToHost),
            "memcpy score");
    checkCuda(cudaMemcpy(h_covered.data(), dev_covered, h_covered.size() * sizeof(int),
            cudaMemcpyDeviceToHost), "memcpy covered");
    if (!writeFile("data/score.bin", h_score.data(), h_score.size() * sizeof(float))) {
        fprintf(stderr, "cannot write data/score.bin\n");
        return 1;
    }
    if (!writeFile("data/covered.bin", h_covered.data(), h_covered.size() * sizeof(int))) {
        fprintf(stderr, "cannot write data/covered.bin\n");
        return 1;
    }
    cudaFree(dev_lower);
    cudaFree(dev_upper);
    cudaFree(dev_actual);
    cudaFree(dev_score);
    cudaFree(dev_covered);
    return 0;
}
