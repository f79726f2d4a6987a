#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

struct DeviceBuffer {
    float* data = nullptr;
    explicit DeviceBuffer(size_t n) { cudaMalloc(&data, n * sizeof(float)); }
    ~DeviceBuffer() { cudaFree(data); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    void operator=(const DeviceBuffer&) = delete;
};

void load(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(v.data(), sizeof(float), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static const int ROWS = 40;
static const int COLS = 300;

// With a fraction in [0.5, 1) scaled by 2^11, rintf rounds halves to even at the tenth bit.
__global__ void round_mantissa_scaled(const float* __restrict__ x, float* __restrict__ rounded,
                                      float* __restrict__ error, int n) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float v = x[i];
        int e;
        const float f = frexpf(v, &e);
        const float r = ldexpf(rintf(ldexpf(f, 11)), e - 11);
        rounded[i] = r;
        error[i] = v - r;
    }
}

int main() {
    const int n = ROWS * COLS;
    std::vector<float> h_x(n);
    std::vector<float> h_rounded(n);
    std::vector<float> h_error(n);
    load("data/x.bin", h_x);

    DeviceBuffer d_x(n);
    DeviceBuffer d_rounded(n);
    DeviceBuffer d_error(n);
    cudaMemcpy(d_x.data, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    const int blocks = min((n + 255) / 256, 4096);
    round_mantissa_scaled<<<blocks, 256>>>(d_x.data, d_rounded.data, d_error.data, n);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    cudaMemcpy(h_rounded.data(), d_rounded.data, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_error.data(), d_error.data, n * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out_rounded = fopen("data/rounded.bin", "wb");
    if (!out_rounded || fwrite(h_rounded.data(), sizeof(float), h_rounded.size(),
            out_rounded) != h_rounded.size()) return 1;
    fclose(out_rounded);
    FILE* out_error = fopen("data/error.bin", "wb");
    if (!out_error || fwrite(h_error.data(), sizeof(float), h_error.size(), out_error) != h_error.size()) return 1;
    fclose(out_error);
    return 0;
}
