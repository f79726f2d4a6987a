#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static bool read_into(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

constexpr int kRows = 70;
constexpr int kCols = 150;

// First pass marks the rows with a non-zero gradient, one warp a row; the second is element-wise.
__global__ void mark_rows(const float* __restrict__ grad, int* __restrict__ live) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= kRows) return;
    bool any = false;
    for (int first = 0; first < kCols && !any; first += 32) {
        const int j = first + lane;
        any = __any_sync(0xffffffffu, j < kCols && grad[(size_t)row * kCols + j] != 0.0f);
    }
    if (lane == 0) live[row] = any;
}

__global__ void qhm_elements(const float* __restrict__ weight, const float* __restrict__ grad,
                             const float* __restrict__ buffer, const float* __restrict__ nu,
                             const int* __restrict__ live, float* __restrict__ weight_out,
                             float* __restrict__ buffer_out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kRows * kCols) return;
    const int row = i / kCols;
    const float g = grad[i], mix = nu[i - row * kCols];
    const float b = live[row] ? fmaf(0.05f, g, 0.95f * buffer[i]) : buffer[i];
    buffer_out[i] = b;
    weight_out[i] = live[row] ? weight[i] - 0.2f * fmaf(mix, b - g, g) : weight[i];
}

int main() {
    float* weight;
    float* grad;
    float* buffer;
    float* nu;
    float* weight_out;
    float* buffer_out;
    int* live;
    cudaMallocManaged(&weight, kRows * kCols * sizeof(float));
    cudaMallocManaged(&grad, kRows * kCols * sizeof(float));
    cudaMallocManaged(&buffer, kRows * kCols * sizeof(float));
    cudaMallocManaged(&nu, kCols * sizeof(float));
    cudaMallocManaged(&weight_out, kRows * kCols * sizeof(float));
    cudaMallocManaged(&buffer_out, kRows * kCols * sizeof(float));
    cudaMallocManaged(&live, kRows * sizeof(int));

    if (!read_into("data/weight.bin", weight, kRows * kCols * sizeof(float))) {
        fprintf(stderr, "cannot read data/weight.bin\n");
        return 1;
    }
    if (!read_into("data/grad.bin", grad, kRows * kCols * sizeof(float))) {
        fprintf(stderr, "cannot read data/grad.bin\n");
        return 1;
    }
    if (!read_into("data/buffer.bin", buffer, kRows * kCols * sizeof(float))) {
        fprintf(stderr, "cannot read data/buffer.bin\n");
        return 1;
    }
    if (!read_into("data/nu.bin", nu, kCols * sizeof(float))) {
        fprintf(stderr, "cannot read data/nu.bin\n");
        return 1;
    }

    mark_rows<<<(kRows + 7) / 8, 256>>>(grad, live);
    qhm_elements<<<(kRows * kCols + 255) / 256, 256>>>(weight, grad, buffer, nu, live, weight_out, buffer_out);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    FILE* weight_out_file = fopen("data/weight_out.bin", "wb");
    if (!weight_out_file) return 1;
    fwrite(weight_out, sizeof(float), kRows * kCols, weight_out_file);
    fclose(weight_out_file);
    FILE* buffer_out_file = fopen("data/buffer_out.bin", "wb");
    if (!buffer_out_file) return 1;
    fwrite(buffer_out, sizeof(float), kRows * kCols, buffer_out_file);
    fclose(buffer_out_file);

    cudaFree(weight);
    cudaFree(grad);
    cudaFree(buffer);
    cudaFree(nu);
    cudaFree(weight_out);
    cudaFree(buffer_out);
    cudaFree(live);
    return 0;
}
