#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 30
#define COLS 900
#define BLOCK 256

__device__ float block_sum(float v, float* buf) {
    int t = threadIdx.x;
    __syncthreads();
    buf[t] = v;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    return buf[0];
}

__global__ void shape_statistics(const float* x, float* skew, float* kurt) {
    __shared__ float buf[BLOCK];
    const float* row = x + (size_t)blockIdx.x * COLS;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < COLS; c += BLOCK) sum += row[c];
    float mean = block_sum(sum, buf) / COLS;
    float s2 = 0.0f, s3 = 0.0f, s4 = 0.0f;
    for (int c = threadIdx.x; c < COLS; c += BLOCK) {
        float d = row[c] - mean;
        float d2 = d * d;
        s2 += d2;
        s3 += d2 * d;
        s4 += d2 * d2;
    }
    float m2 = block_sum(s2, buf) / COLS;
    float m3 = block_sum(s3, buf) / COLS;
    float m4 = block_sum(s4, buf) / COLS;
    if (threadIdx.x == 0) {
        skew[blockIdx.x] = m3 / (m2 * sqrtf(m2));
        kurt[blockIdx.x] = m4 / (m2 * m2) - 3.0f;
    }
}

int main() {
    const size_t size = (size_t)ROWS * COLS;
    std::vector<float> h_x(size), h_skew(ROWS), h_kurt(ROWS);
    FILE* f = fopen("data/x.bin", "rb");
    if (!f || fread(h_x.data(), sizeof(float), size, f) != size) return 1;
    fclose(f);
    float *dev_x, *dev_skew, *dev_kurt;
    cudaMalloc(&dev_x, size * sizeof(float));
    cudaMalloc(&dev_skew, ROWS * sizeof(float));
    cudaMalloc(&dev_kurt, ROWS * sizeof(float));
    cudaMemcpy(dev_x, h_x.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    shape_statistics<<<ROWS, BLOCK>>>(dev_x, dev_skew, dev_kurt);
    cudaMemcpy(h_skew.data(), dev_skew, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kurt.data(), dev_kurt, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* g0 = fopen("data/skew.bin", "wb");
    fwrite(h_skew.data(), sizeof(float), ROWS, g0);
    fclose(g0);
    FILE* g1 = fopen("data/kurt.bin", "wb");
    fwrite(h_kurt.data(), sizeof(float), ROWS, g1);
    fclose(g1);
}
