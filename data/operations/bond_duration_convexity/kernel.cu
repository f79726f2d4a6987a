#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int N = 4000;

static void checkCuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

bool read_all(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool write_all(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(src, 1, bytes, f);
    fclose(f);
    return put == bytes;
}

// From the last payment to the first: value and both moments are pulled back one period at a time.
__global__ void bonds_backward(const float* __restrict__ coupon, const float* __restrict__ yield_rate,
                               const int* __restrict__ periods, float* __restrict__ price,
                               float* __restrict__ duration, float* __restrict__ convexity) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        const float c = coupon[i];
        const float v = 1.0f / (1.0f + yield_rate[i]);
        float s0 = 100.0f, s1 = 0.0f, s2 = 0.0f;
        // s0 = sum v^k c_k, s1 = sum k v^k c_k, s2 = sum k(k+1) v^k c_k for the payments that remain.
        for (int k = periods[i]; k > 0; --k) {
            s0 += c;
            float t0 = v * s0;
            float t1 = v * (s1 + s0);
            s2 = v * (s2 + 2.0f * s1 + 2.0f * s0);
            s0 = t0;
            s1 = t1;
        }
        price[i] = s0;
        duration[i] = s1 * v / s0;
        convexity[i] = s2 * v * v / s0;
    }
}

int main() {
    std::vector<float> coupon(N);
    std::vector<float> yield_rate(N);
    std::vector<int> periods(N);
    std::vector<float> price(N);
    std::vector<float> duration(N);
    std::vector<float> convexity(N);
    if (!read_all("data/coupon.bin", coupon.data(), sizeof(float) * N)) {
        fprintf(stderr, "cannot read data/coupon.bin\n");
        return 1;
    }
    if (!read_all("data/yield_rate.bin", yield_rate.data(), sizeof(float) * N)) {
        fprintf(stderr, "cannot read data/yield_rate.bin\n");
        return 1;
    }
    if (!read_all("data/periods.bin", periods.data(), sizeof(int) * N)) {
        fprintf(stderr, "cannot read data/periods.bin\n");
        return 1;
    }

    float* dCoupon;
    float* dYield_rate;
    int* dPeriods;
    float* dPrice;
    float* dDuration;
    float* dConvexity;
    checkCuda(cudaMalloc(&dCoupon, sizeof(float) * N), "cudaMalloc");
    checkCuda(cudaMalloc(&dYield_rate, sizeof(float) * N), "allocate yield_rate");
    checkCuda(cudaMalloc(&dPeriods, sizeof(int) * N), "cudaMalloc");
    checkCuda(cudaMalloc(&dPrice, sizeof(float) * N), "malloc price");
    checkCuda(cudaMalloc(&dDuration, sizeof(float) * N), "allocate duration");
    checkCuda(cudaMalloc(&dConvexity, sizeof(float) * N), "cudaMalloc");
    checkCuda(cudaMemcpy(dCoupon, coupon.data(), sizeof(float) * N, cudaMemcpyHostToDevice), "copy coupon");
    checkCuda(cudaMemcpy(dYield_rate, yield_rate.data(), sizeof(float) * N, cudaMemcpyHostToDevice),
              "copy yield_rate");
    checkCuda(cudaMemcpy(dPeriods, periods.data(), sizeof(int) * N, cudaMemcpyHostToDevice), "copy periods");

    int blocks = min((N + 128 - 1) / 128, 2048);
    bonds_backward<<<blocks, 128>>>(dCoupon, dYield_rate, dPeriods, dPrice, dDuration, dConvexity);
    checkCuda(cudaGetLastError(), "kernel launch");

    checkCuda(cudaMemcpy(price.data(), dPrice, sizeof(float) * N, cudaMemcpyDeviceToHost), "copy price");
    checkCuda(cudaMemcpy(duration.data(), dDuration, sizeof(float) * N, cudaMemcpyDeviceToHost), "copy duration");
    checkCuda(cudaMemcpy(convexity.data(), dConvexity, sizeof(float) * N, cudaMemcpyDeviceToHost),
              "copy convexity");
    if (!write_all("data/price.bin", price.data(), sizeof(float) * N)) return 1;
    if (!write_all("data/duration.bin", duration.data(), sizeof(float) * N)) return 1;
    if (!write_all("data/convexity.bin", convexity.data(), sizeof(float) * N)) return 1;

    cudaFree(dCoupon);
    cudaFree(dYield_rate);
    cudaFree(dPeriods);
    cudaFree(dPrice);
    cudaFree(dDuration);
    cudaFree(dConvexity);
    return 0;
}
