#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load(const char* filename, void* data, size_t nbytes) {
    FILE* f = fopen(filename, "rb");
    if (!f || fread(data, 1, nbytes, f) != nbytes) {
        fprintf(stderr, "cannot read %s\n", filename);
        exit(1);
    }
    fclose(f);
}

void save(const char* filename, const void* data, size_t nbytes) {
    FILE* f = fopen(filename, "wb");
    if (!f || fwrite(data, 1, nbytes, f) != nbytes) {
        fprintf(stderr, "cannot write %s\n", filename);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int NAMES = 600;
constexpr int QUARTERS = 20;
constexpr int WARPS = 8;

inline int div_up(int a, int b) { return (a + b - 1) / b; }

// One warp for a debtor: the hazards of 32 quarters are accumulated by a scan, the legs by a reduction.
__global__ void fair_spread_warp(const float* __restrict__ hazard, const float* __restrict__ discount,
                                 const float* __restrict__ recovery, float* __restrict__ spread,
                                 float* __restrict__ survival) {
    const int lane = threadIdx.x;
    const int n = blockIdx.x * WARPS + threadIdx.y;
    if (n >= NAMES) return;
    float carried = 0.0f, premium = 0.0f, loss = 0.0f;
    for (int k0 = 0; k0 < QUARTERS; k0 += 32) {
        const int k = k0 + lane;
        const bool inside = k < QUARTERS;
        const float h = inside ? 0.25f * hazard[(size_t)n * QUARTERS + k] : 0.0f;
        float total = h;
        for (int s = 1; s < 32; s *= 2) {
            const float left = __shfl_up_sync(0xffffffffu, total, s);
            if (lane >= s) total += left;
        }
        total += carried;
        const float d = inside ? discount[k] : 0.0f;
        const float before = expf(h - total);
        const float defaulted = -before * expm1f(-h);
        premium += 0.25f * d * (before - 0.5f * defaulted);
        loss += d * defaulted;
        carried = __shfl_sync(0xffffffffu, total, 31);
    }
    for (int s = 16; s > 0; s /= 2) {
        premium += __shfl_down_sync(0xffffffffu, premium, s);
        loss += __shfl_down_sync(0xffffffffu, loss, s);
    }
    if (lane == 0) {
        spread[n] = 10000.0f * (1.0f - recovery[n]) * loss / premium;
        survival[n] = expf(-carried);
    }
}

int main() {
    const size_t len = (size_t)NAMES * QUARTERS;
    float* h_hazard = new float[len];
    float* h_discount = new float[QUARTERS];
    float* h_recovery = new float[NAMES];
    float* h_spread = new float[NAMES];
    float* h_survival = new float[NAMES];
    load("data/hazard.bin", h_hazard, len * sizeof(float));
    load("data/discount.bin", h_discount, QUARTERS * sizeof(float));
    load("data/recovery.bin", h_recovery, NAMES * sizeof(float));

    float *d_hazard, *d_discount, *d_recovery, *d_spread, *d_survival;
    cudaMalloc(&d_hazard, len * sizeof(float));
    cudaMalloc(&d_discount, QUARTERS * sizeof(float));
    cudaMalloc(&d_recovery, NAMES * sizeof(float));
    cudaMalloc(&d_spread, NAMES * sizeof(float));
    cudaMalloc(&d_survival, NAMES * sizeof(float));
    cudaMemcpy(d_hazard, h_hazard, len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_discount, h_discount, QUARTERS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_recovery, h_recovery, NAMES * sizeof(float), cudaMemcpyHostToDevice);

    fair_spread_warp<<<div_up(NAMES, WARPS), dim3(32, WARPS)>>>(d_hazard, d_discount, d_recovery, d_spread,
            d_survival);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(status));
        return 1;
    }
    cudaMemcpy(h_spread, d_spread, NAMES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_survival, d_survival, NAMES * sizeof(float), cudaMemcpyDeviceToHost);

    save("data/spread.bin", h_spread, NAMES * sizeof(float));
    save("data/survival.bin", h_survival, NAMES * sizeof(float));
    cudaFree(d_hazard);
    cudaFree(d_discount);
    cudaFree(d_recovery);
    cudaFree(d_spread);
    cudaFree(d_survival);
    delete[] h_hazard;
    delete[] h_discount;
    delete[] h_recovery;
    delete[] h_spread;
    delete[] h_survival;
    return 0;
}
