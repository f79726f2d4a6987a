#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 60;
const int COLS = 130;
const int STRIP = 128;

// 32 columns x 8 row lanes a block; each block covers a strip of rows and adds its partial sums to dbias.
__global__ void fused_backward(const float* __restrict__ x, const float* __restrict__ bias,
                               const float* __restrict__ dy, float* __restrict__ dx, float* dbias) {
    __shared__ float part[8][32];
    const int c = blockIdx.x * 32 + threadIdx.x;
    const int begin = blockIdx.y * STRIP;
    const int end = min(begin + STRIP, ROWS);
    float sum = 0.0f;
    if (c < COLS) {
        const float b = bias[c];
        for (int r = begin + threadIdx.y; r < end; r += 8) {
            const size_t at = (size_t)r * COLS + c;
            const float s = x[at] + b;
            const float p = 1.0f / (1.0f + expf(-s));
            const float g = dy[at] * p * fmaf(s, 1.0f - p, 1.0f);
            dx[at] = g;
            sum += g;
        }
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < COLS) {
        for (int k = 1; k < 8; ++k) sum += part[k][threadIdx.x];
        atomicAdd(&dbias[c], sum);
    }
}

static void read(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

void launch_silu(const float* d_x, const float* d_bias, const float* d_dy, float* d_dx, float* d_dbias) {
    cudaMemset(d_dbias, 0, COLS * sizeof(float));
    dim3 block(32, 8);
    dim3 grid((COLS + 31) / 32, (ROWS + STRIP - 1) / STRIP);
    fused_backward<<<grid, block>>>(d_x, d_bias, d_dy, d_dx, d_dbias);
}

int main() {
    const size_t size = ROWS * COLS;
    std::vector<float> host_x(size);
    std::vector<float> host_bias(COLS);
    std::vector<float> host_dy(size);
    std::vector<float> host_dx(size);
    std::vector<float> host_dbias(COLS);
    read("data/x.bin", host_x.data(), size * sizeof(float));
    read("data/bias.bin", host_bias.data(), COLS * sizeof(float));
    read("data/dy.bin", host_dy.data(), size * sizeof(float));

    float *d_x, *d_bias, *d_dy, *d_dx, *d_dbias;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_bias, COLS * sizeof(float));
    cudaMalloc(&d_dy, size * sizeof(float));
    cudaMalloc(&d_dx, size * sizeof(float));
    cudaMalloc(&d_dbias, COLS * sizeof(float));
    cudaMemcpy(d_x, host_x.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, host_bias.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_dy, host_dy.data(), size * sizeof(float), cudaMemcpyHostToDevice);

    launch_silu(d_x, d_bias, d_dy, d_dx, d_dbias);
    cudaMemcpy(host_dx.data(), d_dx, size * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_dbias.data(), d_dbias, COLS * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out_dx = fopen("data/dx.bin", "wb");
    fwrite(host_dx.data(), sizeof(float), host_dx.size(), out_dx);
    fclose(out_dx);
    FILE* out_dbias = fopen("data/dbias.bin", "wb");
    fwrite(host_dbias.data(), sizeof(float), host_dbias.size(), out_dbias);
    fclose(out_dbias);
    cudaFree(d_x);
    cudaFree(d_bias);
    cudaFree(d_dy);
    cudaFree(d_dx);
    cudaFree(d_dbias);
    return 0;
}
