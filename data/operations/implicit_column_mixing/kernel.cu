#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kLevels = 12;
constexpr int kColumns = 1000;
constexpr int kLanes = 32;

inline void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

bool loadBinary(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return got == v.size();
}

bool saveBinary(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return put == v.size();
}

// The results of the downward sweep stay in shared memory, so global memory is read and written only once.
__global__ void mix_in_shared(const float* __restrict__ tracer, const float* __restrict__ exchange,
                              float* __restrict__ mixed) {
    __shared__ float ratio[kLevels][kLanes];
    __shared__ float value[kLevels][kLanes];
    const int lane = threadIdx.x;
    const int c = blockIdx.x * kLanes + lane;
    if (c >= kColumns) return;
    float r = 0.0f, t = 0.0f, above = 0.0f;
    for (int k = 0; k < kLevels; ++k) {
        float below = k + 1 < kLevels ? exchange[k * kColumns + c] : 0.0f;
        float inverse = 1.0f / (1.0f + below + above * (1.0f - r));
        t = fmaf(above, t, tracer[k * kColumns + c]) * inverse;
        r = below * inverse;
        value[k][lane] = t;
        ratio[k][lane] = r;
        above = below;
    }
    mixed[(kLevels - 1) * kColumns + c] = t;
    for (int k = kLevels - 2; k >= 0; --k) {
        t = fmaf(ratio[k][lane], t, value[k][lane]);
        mixed[k * kColumns + c] = t;
    }
}

int main() {
    std::vector<float> tracer(kLevels * kColumns), exchange(kLevels * kColumns), mixed(kLevels * kColumns);
    if (!loadBinary("data/tracer.bin", tracer) || !loadBinary("data/exchange.bin", exchange)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    float *d_tracer, *d_exchange, *d_mixed;
    check(cudaMalloc(&d_tracer, kLevels * kColumns * sizeof(float)), "cudaMalloc tracer");
    check(cudaMalloc(&d_exchange, kLevels * kColumns * sizeof(float)), "cudaMalloc exchange");
    check(cudaMalloc(&d_mixed, kLevels * kColumns * sizeof(float)), "cudaMalloc mixed");
    check(cudaMemcpy(d_tracer, tracer.data(), kLevels * kColumns * sizeof(float), cudaMemcpyHostToDevice),
            "copy tracer");
    check(cudaMemcpy(d_exchange, exchange.data(), kLevels * kColumns * sizeof(float),
            cudaMemcpyHostToDevice), "copy exchange");

    mix_in_shared<<<(kColumns + kLanes - 1) / kLanes, kLanes>>>(d_tracer, d_exchange, d_mixed);
    check(cudaGetLastError(), "kernel launch");
    check(cudaMemcpy(mixed.data(), d_mixed, kLevels * kColumns * sizeof(float), cudaMemcpyDeviceToHost),
            "copy mixed back");

    cudaFree(d_tracer);
    cudaFree(d_exchange);
    cudaFree(d_mixed);

    if (!saveBinary("data/mixed.bin", mixed)) return 1;
    return 0;
}
