#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int STRIKES = 80;
const int EXPIRIES = 70;

inline void check(cudaError_t status, const char* msg) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(status));
        exit(1);
    }
}

template <typename T>
static bool read_binary(const char* path, std::vector<T>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(T), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

template <typename T>
static bool write_binary(const char* path, const std::vector<T>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(T), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

__global__ void parity(const float* call, const float* put, const float* strike, const float* expiry,
                       float* gap, int* side, float* profit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= STRIKES * EXPIRIES) return;
    float k = strike[i / EXPIRIES];
    float t = expiry[i % EXPIRIES];
    float g = call[i] - put[i] - (100.0f * expf(-0.01f * t) - k * expf(-0.03f * t));
    gap[i] = g;
    if (g > 0.25f) {
        side[i] = 1;
        profit[i] = g - 0.25f;
    } else if (g < -0.25f) {
        side[i] = -1;
        profit[i] = -g - 0.25f;
    } else {
        side[i] = 0;
        profit[i] = 0.0f;
    }
}

int main() {
    const size_t len = size_t(STRIKES) * EXPIRIES;
    std::vector<float> call(len);
    std::vector<float> put(len);
    std::vector<float> strike(STRIKES);
    std::vector<float> expiry(EXPIRIES);
    std::vector<float> gap(len);
    std::vector<int> side(len);
    std::vector<float> profit(len);
    if (!read_binary("data/call.bin", call)) {
        fprintf(stderr, "cannot read data/call.bin\n");
        return 1;
    }
    if (!read_binary("data/put.bin", put)) {
        fprintf(stderr, "cannot read data/put.bin\n");
        return 1;
    }
    if (!read_binary("data/strike.bin", strike)) {
        fprintf(stderr, "cannot read data/strike.bin\n");
        return 1;
    }
    if (!read_binary("data/expiry.bin", expiry)) {
        fprintf(stderr, "cannot read data/expiry.bin\n");
        return 1;
    }

    float* d_call;
    float* d_put;
    float* d_strike;
    float* d_expiry;
    float* d_gap;
    int* d_side;
    float* d_profit;
    check(cudaMalloc(&d_call, len * sizeof(float)), "malloc d_call");
    check(cudaMalloc(&d_put, len * sizeof(float)), "malloc d_put");
    check(cudaMalloc(&d_strike, STRIKES * sizeof(float)), "malloc d_strike");
    check(cudaMalloc(&d_expiry, EXPIRIES * sizeof(float)), "malloc d_expiry");
    check(cudaMalloc(&d_gap, len * sizeof(float)), "malloc d_gap");
    check(cudaMalloc(&d_side, len * sizeof(int)), "malloc d_side");
    check(cudaMalloc(&d_profit, len * sizeof(float)), "malloc d_profit");
    check(cudaMemcpy(d_call, call.data(), len * sizeof(float), cudaMemcpyHostToDevice), "copy d_call");
    check(cudaMemcpy(d_put, put.data(), len * sizeof(float), cudaMemcpyHostToDevice), "copy d_put");
    check(cudaMemcpy(d_strike, strike.data(), STRIKES * sizeof(float), cudaMemcpyHostToDevice), "copy d_strike");
    check(cudaMemcpy(d_expiry, expiry.data(), EXPIRIES * sizeof(float), cudaMemcpyHostToDevice), "copy d_expiry");

    parity<<<(STRIKES * EXPIRIES + 255) / 256, 256>>>(d_call, d_put, d_strike, d_expiry, d_gap, d_side, d_profit);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(gap.data(), d_gap, len * sizeof(float), cudaMemcpyDeviceToHost), "copy gap");
    check(cudaMemcpy(side.data(), d_side, len * sizeof(int), cudaMemcpyDeviceToHost), "copy side");
    check(cudaMemcpy(profit.data(), d_profit, len * sizeof(float), cudaMemcpyDeviceToHost), "copy profit");

    if (!write_binary("data/gap.bin", gap)) return 1;
    if (!write_binary("data/side.bin", side)) return 1;
    if (!write_binary("data/profit.bin", profit)) return 1;
    cudaFree(d_call);
    cudaFree(d_put);
    cudaFree(d_strike);
    cudaFree(d_expiry);
    cudaFree(d_gap);
    cudaFree(d_side);
    cudaFree(d_profit);
    return 0;
}
