#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define BATCH 12
#define M 40
#define N 50

// Tiles of b go through shared memory, so that both matrices are read along their rows.
__global__ void trace_tiles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ trace) {
    __shared__ float tile[32][33];
    __shared__ float warpSum[8];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const float* ma = a + (size_t)blockIdx.x * M * N;
    const float* mb = b + (size_t)blockIdx.x * M * N;
    float sum = 0.0f;
    for (int i0 = 0; i0 < M; i0 += 32) {
        for (int j0 = 0; j0 < N; j0 += 32) {
            for (int k = ty; k < 32; k += 8) {
                const bool inside = j0 + k < N && i0 + tx < M;
                tile[k][tx] = inside ? mb[(j0 + k) * M + i0 + tx] : 0.0f;
            }
            __syncthreads();
            for (int k = ty; k < 32; k += 8) {
                if (i0 + k < M && j0 + tx < N) sum = fmaf(ma[(i0 + k) * N + j0 + tx], tile[tx][k], sum);
            }
            __syncthreads();
        }
    }
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (tx == 0) warpSum[ty] = sum;
    __syncthreads();
    if (tx == 0 && ty == 0) {
        for (int w = 1; w < 8; ++w) sum += warpSum[w];
        trace[blockIdx.x] = sum;
    }
}

int main() {
    std::vector<float> h_a(BATCH * M * N);
    std::vector<float> h_b(BATCH * N * M);
    std::vector<float> h_trace(BATCH);
    FILE* f = fopen("data/a.bin", "rb");
    if (!f || fread(h_a.data(), sizeof(float), h_a.size(), f) != h_a.size()) return 1;
    fclose(f);
    f = fopen("data/b.bin", "rb");
    if (!f || fread(h_b.data(), sizeof(float), h_b.size(), f) != h_b.size()) return 1;
    fclose(f);
    float *d_a, *d_b, *d_trace;
    cudaMalloc(&d_a, sizeof(float) * BATCH * M * N);
    cudaMalloc(&d_b, sizeof(float) * BATCH * N * M);
    cudaMalloc(&d_trace, BATCH * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), sizeof(float) * BATCH * M * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), sizeof(float) * BATCH * N * M, cudaMemcpyHostToDevice);
    trace_tiles<<<BATCH, dim3(32, 8)>>>(d_a, d_b, d_trace);
    cudaMemcpy(h_trace.data(), d_trace, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/trace.bin", "wb");
    fwrite(h_trace.data(), sizeof(float), h_trace.size(), f);
    fclose(f);
}
