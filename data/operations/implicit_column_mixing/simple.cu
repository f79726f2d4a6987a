#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define LEVELS 12
#define COLUMNS 1000

#define CK(x) \
    if ((x) != cudaSuccess) { \
        fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
        exit(1); \
    }

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void save_bin(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

__global__ void mix_columns(const float* tracer, const float* exchange, float* ratio, float* mixed) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLUMNS) return;
    float r = 0.0f, t = 0.0f, above = 0.0f;
    for (int k = 0; k < LEVELS; ++k) {
        int i = k * COLUMNS + c;
        float below = k < LEVELS - 1 ? exchange[i] : 0.0f;
        float pivot = 1.0f + above + below - above * r;
        t = (tracer[i] + above * t) / pivot;
        r = below / pivot;
        mixed[i] = t;
        ratio[i] = r;
        above = below;
    }
    for (int k = LEVELS - 2; k >= 0; --k) {
        int i = k * COLUMNS + c;
        t = mixed[i] + ratio[i] * t;
        mixed[i] = t;
    }
}

int main() {
    float* h_tracer = (float*)malloc(LEVELS * COLUMNS * sizeof(float));
    float* h_exchange = (float*)malloc(LEVELS * COLUMNS * sizeof(float));
    float* h_mixed = (float*)malloc(LEVELS * COLUMNS * sizeof(float));
    load_bin("data/tracer.bin", h_tracer, LEVELS * COLUMNS * sizeof(float));
    load_bin("data/exchange.bin", h_exchange, LEVELS * COLUMNS * sizeof(float));

    float *tracer_d, *exchange_d, *mixed_d, *ratio_d;
    CK(cudaMalloc(&tracer_d, LEVELS * COLUMNS * sizeof(float)));
    CK(cudaMalloc(&exchange_d, LEVELS * COLUMNS * sizeof(float)));
    CK(cudaMalloc(&mixed_d, LEVELS * COLUMNS * sizeof(float)));
    CK(cudaMalloc(&ratio_d, LEVELS * COLUMNS * sizeof(float)));
    CK(cudaMemcpy(tracer_d, h_tracer, LEVELS * COLUMNS * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(exchange_d, h_exchange, LEVELS * COLUMNS * sizeof(float), cudaMemcpyHostToDevice));

    mix_columns<<<(COLUMNS + 127) / 128, 128>>>(tracer_d, exchange_d, ratio_d, mixed_d);
    CK(cudaGetLastError());
    CK(cudaMemcpy(h_mixed, mixed_d, LEVELS * COLUMNS * sizeof(float), cudaMemcpyDeviceToHost));

    save_bin("data/mixed.bin", h_mixed, LEVELS * COLUMNS * sizeof(float));

    cudaFree(tracer_d);
    cudaFree(exchange_d);
    cudaFree(mixed_d);
    cudaFree(ratio_d);
    free(h_tracer);
    free(h_exchange);
    free(h_mixed);
    return 0;
}
