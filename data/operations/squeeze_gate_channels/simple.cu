#include <cuda_runtime.h>
#include <cstdio>

#define BATCH 4
#define CHANNELS 6
#define PLANE 900

__global__ void squeeze_gate(const float* x, const float* weight, const float* shift, float* y, float* gate) {
    __shared__ float sums[256];
    const int c = blockIdx.x % CHANNELS;
    const float* in = x + (size_t)blockIdx.x * PLANE;
    float* out = y + (size_t)blockIdx.x * PLANE;
    float sum = 0.0f;
    for (int p = threadIdx.x; p < PLANE; p += blockDim.x) sum += in[p];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    float g = 1.0f / (1.0f + expf(-(weight[c] * sums[0] / PLANE + shift[c])));
    if (threadIdx.x == 0) gate[blockIdx.x] = g;
    for (int p = threadIdx.x; p < PLANE; p += blockDim.x) out[p] = in[p] * g;
}

static bool readAll(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    const size_t numel = BATCH * CHANNELS * PLANE;
    const int gate_size = BATCH * CHANNELS;
    float *x, *weight, *shift, *y, *gate;
    cudaMallocManaged(&x, numel * sizeof(float));
    cudaMallocManaged(&weight, CHANNELS * sizeof(float));
    cudaMallocManaged(&shift, CHANNELS * sizeof(float));
    cudaMallocManaged(&y, numel * sizeof(float));
    cudaMallocManaged(&gate, gate_size * sizeof(float));

    if (!readAll("data/x.bin", x, numel * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!readAll("data/weight.bin", weight, CHANNELS * sizeof(float))) {
        fprintf(stderr, "cannot read data/weight.bin\n");
        return 1;
    }
    if (!readAll("data/shift.bin", shift, CHANNELS * sizeof(float))) {
        fprintf(stderr, "cannot read data/shift.bin\n");
        return 1;
    }

    squeeze_gate<<<BATCH * CHANNELS, 256>>>(x, weight, shift, y, gate);
    cudaDeviceSynchronize();

    FILE* out_y = fopen("data/y.bin", "wb");
    fwrite(y, sizeof(float), numel, out_y);
    fclose(out_y);
    FILE* out_gate = fopen("data/gate.bin", "wb");
    fwrite(gate, sizeof(float), gate_size, out_gate);
    fclose(out_gate);

    cudaFree(x);
    cudaFree(weight);
    cudaFree(shift);
    cudaFree(y);
    cudaFree(gate);
    return 0;
}
