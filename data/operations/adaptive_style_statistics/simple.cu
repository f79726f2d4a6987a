#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define PLANES 20
#define PIXELS 600
#define STYLE_PIXELS 450

#define CUDA_CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(e), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

__global__ void row_moments(const float* data, int length, float* mean, float* dev) {
    __shared__ float part[256];
    const float* row = data + (size_t)blockIdx.x * length;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < length; i += 256) sum += row[i];
    part[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    float m = part[0] / length;
    __syncthreads();
    float sq = 0.0f;
    for (int i = t; i < length; i += 256) sq += (row[i] - m) * (row[i] - m);
    part[t] = sq;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) {
        mean[blockIdx.x] = m;
        dev[blockIdx.x] = sqrtf(part[0] / length + 1e-5f);
    }
}

__global__ void restyle(const float* content, const float* mc, const float* sc, const float* ms, const float* ss,
                        float* mixed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PLANES * PIXELS) return;
    int k = i / PIXELS;
    mixed[i] = ss[k] * (content[i] - mc[k]) / sc[k] + ms[k];
}

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (file == NULL || fread(dst, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
}

static void save_bin(const char* path, const void* src, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(src, 1, bytes, file) != bytes) {
        fprintf(stderr, "could not write %s\n", path);
        exit(1);
    }
    fclose(file);
}

int main() {
    const size_t content_count = (size_t)PLANES * PIXELS;
    const size_t style_count = PLANES * STYLE_PIXELS;
    float* h_content = (float*)malloc(content_count * sizeof(float));
    float* h_style = (float*)malloc(style_count * sizeof(float));
    float* h_mixed = (float*)malloc(content_count * sizeof(float));

    load_bin("data/content.bin", h_content, content_count * sizeof(float));
    load_bin("data/style.bin", h_style, style_count * sizeof(float));

    float *content_d, *style_d, *mixed_d, *mc_d, *sc_d, *ms_d, *ss_d;
    CUDA_CHECK(cudaMalloc(&content_d, content_count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&style_d, style_count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&mixed_d, content_count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&mc_d, PLANES * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&sc_d, PLANES * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&ms_d, PLANES * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&ss_d, PLANES * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(content_d, h_content, content_count * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(style_d, h_style, style_count * sizeof(float), cudaMemcpyHostToDevice));

    row_moments<<<PLANES, 256>>>(content_d, PIXELS, mc_d, sc_d);
    row_moments<<<PLANES, 256>>>(style_d, STYLE_PIXELS, ms_d, ss_d);
    restyle<<<(PLANES * PIXELS + 256 - 1) / 256, 256>>>(content_d, mc_d, sc_d, ms_d, ss_d, mixed_d);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(h_mixed, mixed_d, content_count * sizeof(float), cudaMemcpyDeviceToHost));
    save_bin("data/mixed.bin", h_mixed, content_count * sizeof(float));

    cudaFree(content_d);
    cudaFree(style_d);
    cudaFree(mixed_d);
    cudaFree(mc_d);
    cudaFree(sc_d);
    cudaFree(ms_d);
    cudaFree(ss_d);
    free(h_content);
    free(h_style);
    free(h_mixed);
    return 0;
}
