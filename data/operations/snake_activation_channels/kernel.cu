#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

struct DevMem {
    float* ptr = nullptr;
    explicit DevMem(size_t n) {
        if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) exit(1);
    }
    ~DevMem() { cudaFree(ptr); }
    DevMem(const DevMem&) = delete;
    void operator=(const DevMem&) = delete;
};

void load(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(v.data(), sizeof(float), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static const int BATCH = 2;
static const int CHANNELS = 6;
static const int LENGTH = 1000;

__global__ void snake_rows(const float* __restrict__ x, const float* __restrict__ freq, float* __restrict__ y) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= LENGTH) return;
    const int c = blockIdx.y;
    const float a = freq[c];
    const float inv = 1.0f / a;
    for (int b = 0; b < BATCH; ++b) {
        const size_t at = ((size_t)b * CHANNELS + c) * LENGTH + t;
        const float v = x[at];
        const float s = sinf(a * v);
        y[at] = fmaf(s * s, inv, v);
    }
}

int main() {
    const size_t total = BATCH * CHANNELS * LENGTH;
    std::vector<float> host_x(total);
    std::vector<float> host_freq(CHANNELS);
    std::vector<float> host_y(total);
    load("data/x.bin", host_x);
    load("data/freq.bin", host_freq);

    DevMem dev_x(total);
    DevMem dev_freq(CHANNELS);
    DevMem dev_y(total);
    cudaMemcpy(dev_x.ptr, host_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_freq.ptr, host_freq.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
    dim3 grid((LENGTH + 128 - 1) / 128, CHANNELS);
    snake_rows<<<grid, 128>>>(dev_x.ptr, dev_freq.ptr, dev_y.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    cudaMemcpy(host_y.data(), dev_y.ptr, total * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/y.bin", "wb");
    if (!out || fwrite(host_y.data(), sizeof(float), host_y.size(), out) != host_y.size()) return 1;
    fclose(out);
    return 0;
}
