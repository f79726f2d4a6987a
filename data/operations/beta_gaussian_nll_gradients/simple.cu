#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 64;
const int COLS = 250;
const int TOTAL = ROWS * COLS;

__global__ void beta_nll(const float* mean, const float* logvar, const float* target,
                         float* dmean, float* dlogvar, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float d = mean[i] - target[i];
    float lv = fminf(fmaxf(logvar[i], -8.0f), 8.0f);
    float v = expf(lv);
    float weight = sqrtf(v);
    dmean[i] = weight * d / v;
    dlogvar[i] = lv == logvar[i] ? weight * 0.5f * (1.0f - d * d / v) : 0.0f;
}

int main() {
    std::vector<float> h_mean(TOTAL), h_logvar(TOTAL), h_target(TOTAL), h_dmean(TOTAL), h_dlogvar(TOTAL);
    FILE* fp = fopen("data/mean.bin", "rb");
    if (!fp || fread(h_mean.data(), sizeof(float), h_mean.size(), fp) != h_mean.size()) return 2;
    fclose(fp);
    fp = fopen("data/logvar.bin", "rb");
    if (!fp || fread(h_logvar.data(), sizeof(float), h_logvar.size(), fp) != h_logvar.size()) return 2;
    fclose(fp);
    fp = fopen("data/target.bin", "rb");
    if (!fp || fread(h_target.data(), sizeof(float), h_target.size(), fp) != h_target.size()) return 2;
    fclose(fp);
    float *d_mean, *d_logvar, *d_target, *d_dmean, *d_dlogvar;
    cudaMalloc(&d_mean, TOTAL * sizeof(float));
    cudaMalloc(&d_logvar, TOTAL * sizeof(float));
    cudaMalloc(&d_target, TOTAL * sizeof(float));
    cudaMalloc(&d_dmean, TOTAL * sizeof(float));
    cudaMalloc(&d_dlogvar, TOTAL * sizeof(float));
    cudaMemcpy(d_mean, h_mean.data(), TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_logvar, h_logvar.data(), TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, h_target.data(), TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    beta_nll<<<(TOTAL + 255) / 256, 256>>>(d_mean, d_logvar, d_target, d_dmean, d_dlogvar, TOTAL);
    cudaMemcpy(h_dmean.data(), d_dmean, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_dlogvar.data(), d_dlogvar, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);
    fp = fopen("data/dmean.bin", "wb");
    fwrite(h_dmean.data(), sizeof(float), h_dmean.size(), fp);
    fclose(fp);
    fp = fopen("data/dlogvar.bin", "wb");
    fwrite(h_dlogvar.data(), sizeof(float), h_dlogvar.size(), fp);
    fclose(fp);
    return 0;
}
