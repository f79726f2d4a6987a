#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    explicit DeviceArray(size_t count) {
        if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess)
            { fprintf(stderr, "cudaMalloc failed\n"); exit(1); }
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

static const int ROWS = 50;
static const int POINTS = 400;
static const int BLOCK = 256;

// A block per row: warp scans of the trapezoids, joined through shared memory, with a carry between pieces.
__global__ void trapezoid_block(const float* __restrict__ f, const float* __restrict__ t,
    float* __restrict__ area) {
    __shared__ float warpSums[BLOCK / 32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float* y = f + (size_t)blockIdx.x * POINTS;
    float* out = area + (size_t)blockIdx.x * POINTS;
    float carry = 0.0f;
    for (int start = 0; start < POINTS; start += BLOCK) {
        int i = start + threadIdx.x;
        float v = 0.0f;
        if (i > 0 && i < POINTS) v = 0.5f * (y[i - 1] + y[i]) * (t[i] - t[i - 1]);
        for (int s = 1; s < 32; s <<= 1) {
            float left = __shfl_up_sync(0xffffffffu, v, s);
            if (lane >= s) v += left;
        }
        if (lane == 31) warpSums[warp] = v;
        __syncthreads();
        float before = carry;
        for (int w = 0; w < BLOCK / 32; ++w) {
            if (w < warp) before += warpSums[w];
            carry += warpSums[w];
        }
        if (i < POINTS) out[i] = before + v;
        __syncthreads();
    }
}

int main() {
    const size_t elements = (size_t)ROWS * POINTS;
    std::vector<float> h_f(elements);
    std::vector<float> h_t(POINTS);
    std::vector<float> h_area(elements);
    std::ifstream fIn("data/f.bin", std::ios::binary);
    if (!fIn.read(reinterpret_cast<char*>(h_f.data()), elements * sizeof(float)))
        { fprintf(stderr, "cannot read data/f.bin\n"); exit(1); }
    std::ifstream tIn("data/t.bin", std::ios::binary);
    if (!tIn.read(reinterpret_cast<char*>(h_t.data()), POINTS * sizeof(float)))
        { fprintf(stderr, "cannot read data/t.bin\n"); exit(1); }

    DeviceArray<float> gpu_f(elements);
    DeviceArray<float> gpu_t(POINTS);
    DeviceArray<float> gpu_area(elements);
    cudaMemcpy(gpu_f.data, h_f.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(gpu_t.data, h_t.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice);

    trapezoid_block<<<ROWS, BLOCK>>>(gpu_f.data, gpu_t.data, gpu_area.data);
    if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "launch failed\n"); exit(1); }
    cudaMemcpy(h_area.data(), gpu_area.data, elements * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/area.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(h_area.data()), elements * sizeof(float));
    return 0;
}
