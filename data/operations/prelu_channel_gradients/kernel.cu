#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

struct DeviceArray {
    float* p = nullptr;
    size_t count = 0;
    explicit DeviceArray(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(float)) != cudaSuccess) exit(1);
    }
    ~DeviceArray() { cudaFree(p); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    float* get() { return p; }
};

void load(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(v.data(), sizeof(float), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

constexpr int kBatch = 3;
constexpr int kChannels = 7;
constexpr int kPlane = 500;

__global__ void plane_gradients(const float* __restrict__ x, const float* __restrict__ slope,
                                const float* __restrict__ dy, float* __restrict__ dx, float* dslope) {
    __shared__ float warp_sums[8];
    const int c = blockIdx.x;
    const size_t base = ((size_t)blockIdx.y * kChannels + c) * kPlane;
    const float a = slope[c];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < kPlane; i += 256) {
        const float v = x[base + i];
        const float g = dy[base + i];
        dx[base + i] = v > 0.0f ? g : a * g;
        sum = fmaf(fminf(v, 0.0f), g, sum);
    }
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) sum += warp_sums[w];
        atomicAdd(dslope + c, sum);
    }
}

int main(void) {
    const int count = kBatch * kChannels * kPlane;
    std::vector<float> x(count);
    std::vector<float> slope(kChannels);
    std::vector<float> dy(count);
    std::vector<float> dx(count);
    std::vector<float> dslope(kChannels);
    load("data/x.bin", x);
    load("data/slope.bin", slope);
    load("data/dy.bin", dy);
    DeviceArray d_x(count);
    DeviceArray d_slope(kChannels);
    DeviceArray d_dy(count);
    DeviceArray d_dx(count);
    DeviceArray d_dslope(kChannels);
    cudaMemcpy(d_x.get(), x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_slope.get(), slope.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_dy.get(), dy.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_dslope.get(), 0, kChannels * sizeof(float));
    dim3 grid(kChannels, kBatch);
    plane_gradients<<<grid, 256>>>(d_x.get(), d_slope.get(), d_dy.get(), d_dx.get(), d_dslope.get());
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }
    cudaMemcpy(dx.data(), d_dx.get(), count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(dslope.data(), d_dslope.get(), kChannels * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out_dx = fopen("data/dx.bin", "wb");
    if (!out_dx || fwrite(dx.data(), sizeof(float), dx.size(), out_dx) != dx.size()) return 1;
    fclose(out_dx);
    FILE* out_dslope = fopen("data/dslope.bin", "wb");
    if (!out_dslope || fwrite(dslope.data(), sizeof(float), dslope.size(), out_dslope) != dslope.size()) return 1;
    fclose(out_dslope);
    return 0;
}
