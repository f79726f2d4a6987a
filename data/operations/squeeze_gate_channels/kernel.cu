#include <fstream>
#include <iostream>
#include <string>

#include <cuda_runtime.h>

void load_file(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void store_file(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

static const int BATCH = 4;
static const int CHANNELS = 6;
static const int PLANE = 900;

// The plane stays in shared memory between the mean and the scaling, so x is read once.
__global__ void squeeze_gate_cached(const float* __restrict__ x, const float* __restrict__ weight,
                                    const float* __restrict__ shift, float* __restrict__ y, float* __restrict__ gate) {
    __shared__ float cache[PLANE];
    __shared__ float warp_sum[4];
    const int c = blockIdx.x % CHANNELS;
    const size_t base = (size_t)blockIdx.x * PLANE;
    float sum = 0.0f;
    for (int p = threadIdx.x; p < PLANE; p += 128) {
        const float v = x[base + p];
        cache[p] = v;
        sum += v;
    }
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if ((threadIdx.x & 31) == 0) warp_sum[threadIdx.x >> 5] = sum;
    __syncthreads();
    const float mean = (warp_sum[0] + warp_sum[1] + warp_sum[2] + warp_sum[3]) * (1.0f / PLANE);
    const float g = 1.0f / (1.0f + expf(-fmaf(weight[c], mean, shift[c])));
    if (threadIdx.x == 0) gate[blockIdx.x] = g;
    for (int p = threadIdx.x; p < PLANE; p += 128) y[base + p] = cache[p] * g;
}

int main() {
    const int size = BATCH * CHANNELS * PLANE;
    const size_t n_gate = BATCH * CHANNELS;
    float* h_x = new float[size];
    float* h_weight = new float[CHANNELS];
    float* h_shift = new float[CHANNELS];
    float* h_y = new float[size];
    float* h_gate = new float[n_gate];
    load_file("data/x.bin", h_x, size * sizeof(float));
    load_file("data/weight.bin", h_weight, CHANNELS * sizeof(float));
    load_file("data/shift.bin", h_shift, CHANNELS * sizeof(float));

    float *d_x, *d_weight, *d_shift, *d_y, *d_gate;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_weight, CHANNELS * sizeof(float));
    cudaMalloc(&d_shift, CHANNELS * sizeof(float));
    cudaMalloc(&d_y, size * sizeof(float));
    cudaMalloc(&d_gate, n_gate * sizeof(float));
    cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_shift, h_shift, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    squeeze_gate_cached<<<BATCH * CHANNELS, 128>>>(d_x, d_weight, d_shift, d_y, d_gate);
    cudaError_t rc = cudaGetLastError();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }
    cudaMemcpy(h_y, d_y, size * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_gate, d_gate, n_gate * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/y.bin", h_y, size * sizeof(float));
    store_file("data/gate.bin", h_gate, n_gate * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_shift);
    cudaFree(d_y);
    cudaFree(d_gate);
    delete[] h_x;
    delete[] h_weight;
    delete[] h_shift;
    delete[] h_y;
    delete[] h_gate;
    return 0;
}
