#include <cuda_runtime.h>
#include <cstdio>

#define SYSTEMS 60
#define N 100

__global__ void thomas(const float* low, const float* mid, const float* high, const float* rhs, float* ratio,
        float* u) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= SYSTEMS) return;
    int base = s * N;
    ratio[base] = high[base] / mid[base];
    u[base] = rhs[base] / mid[base];
    for (int i = base + 1; i < base + N; ++i) {
        float denom = mid[i] - low[i] * ratio[i - 1];
        ratio[i] = high[i] / denom;
        u[i] = (rhs[i] - low[i] * u[i - 1]) / denom;
    }
    for (int i = base + N - 2; i >= base; --i) {
        u[i] -= ratio[i] * u[i + 1];
    }
}

static bool load_into(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    const size_t low_elems = (size_t)SYSTEMS * N;
    float *low, *mid, *high, *rhs, *u, *ratio;
    cudaMallocManaged(&low, low_elems * sizeof(float));
    cudaMallocManaged(&mid, low_elems * sizeof(float));
    cudaMallocManaged(&high, low_elems * sizeof(float));
    cudaMallocManaged(&rhs, low_elems * sizeof(float));
    cudaMallocManaged(&u, low_elems * sizeof(float));
    cudaMallocManaged(&ratio, low_elems * sizeof(float));

    if (!load_into("data/low.bin", low, low_elems * sizeof(float)) ||
        !load_into("data/mid.bin", mid, low_elems * sizeof(float)) ||
        !load_into("data/high.bin", high, low_elems * sizeof(float)) ||
        !load_into("data/rhs.bin", rhs, low_elems * sizeof(float))) {
        fprintf(stderr, "missing or short input\n");
        return 1;
    }

    const int threads = 64;
    thomas<<<(SYSTEMS + threads - 1) / threads, threads>>>(low, mid, high, rhs, ratio, u);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_u = fopen("data/u.bin", "wb");
    fwrite(u, sizeof(float), low_elems, out_u);
    fclose(out_u);

    cudaFree(low);
    cudaFree(mid);
    cudaFree(high);
    cudaFree(rhs);
    cudaFree(u);
    cudaFree(ratio);
    return 0;
}
