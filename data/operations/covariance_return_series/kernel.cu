#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define PAIRS 50
#define DAYS 260
#define WARPS 4
#define RETURNS (DAYS - 1)

// The mean of the log returns follows from the first and last price, so a warp needs only one pass over a pair.
__global__ void pair_statistics_warp(const float* __restrict__ first, const float* __restrict__ second,
                                     float* __restrict__ covariance, float* __restrict__ correlation,
                                     float* __restrict__ beta) {
    const int pair = blockIdx.x * WARPS + threadIdx.y;
    if (pair >= PAIRS) return;
    const float* a = first + (size_t)pair * DAYS;
    const float* b = second + (size_t)pair * DAYS;
    const float mx = logf(a[DAYS - 1] / a[0]) / (float)RETURNS;
    const float my = logf(b[DAYS - 1] / b[0]) / (float)RETURNS;
    float xx = 0.0f, yy = 0.0f, xy = 0.0f;
    for (int t = threadIdx.x + 1; t < DAYS; t += 32) {
        const float x = logf(a[t] / a[t - 1]) - mx;
        const float y = logf(b[t] / b[t - 1]) - my;
        xx = fmaf(x, x, xx);
        yy = fmaf(y, y, yy);
        xy = fmaf(x, y, xy);
    }
    for (int s = 16; s > 0; s >>= 1) {
        xx += __shfl_down_sync(0xffffffffu, xx, s);
        yy += __shfl_down_sync(0xffffffffu, yy, s);
        xy += __shfl_down_sync(0xffffffffu, xy, s);
    }
    if (threadIdx.x == 0) {
        covariance[pair] = xy / (float)(RETURNS - 1);
        correlation[pair] = xy * rsqrtf(xx) * rsqrtf(yy);
        beta[pair] = xy / xx;
    }
}

int main() {
    const size_t total = (size_t)PAIRS * DAYS;
    std::vector<float> first(total), second(total), covariance(PAIRS), correlation(PAIRS), beta(PAIRS);
    std::ifstream f_first("data/first.bin", std::ios::binary);
    if (!f_first.read((char*)first.data(), total * sizeof(float))) return 1;
    std::ifstream f_second("data/second.bin", std::ios::binary);
    if (!f_second.read((char*)second.data(), total * sizeof(float))) return 1;
    float* dev_first = nullptr;
    cudaMalloc(&dev_first, total * sizeof(float));
    cudaMemcpy(dev_first, first.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_second = nullptr;
    cudaMalloc(&dev_second, total * sizeof(float));
    cudaMemcpy(dev_second, second.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_covariance = nullptr;
    cudaMalloc(&dev_covariance, PAIRS * sizeof(float));
    float* dev_correlation = nullptr;
    cudaMalloc(&dev_correlation, PAIRS * sizeof(float));
    float* dev_beta = nullptr;
    cudaMalloc(&dev_beta, PAIRS * sizeof(float));
    pair_statistics_warp<<<(PAIRS + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(dev_first, dev_second,
            dev_covariance, dev_correlation, dev_beta);
    cudaMemcpy(covariance.data(), dev_covariance, PAIRS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(correlation.data(), dev_correlation, PAIRS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(beta.data(), dev_beta, PAIRS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/covariance.bin", std::ios::binary).write((char*)covariance.data(), PAIRS * sizeof(float));
    std::ofstream("data/correlation.bin", std::ios::binary).write((char*)correlation.data(),
            PAIRS * sizeof(float));
    std::ofstream("data/beta.bin", std::ios::binary).write((char*)beta.data(), PAIRS * sizeof(float));
    return 0;
}
