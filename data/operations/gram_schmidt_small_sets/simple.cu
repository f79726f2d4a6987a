#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_data(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(file);
}

void write_data(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error writing %s\n", path);
        exit(1);
    }
    fclose(file);
}
//@given

const int SETS = 30;
const int K = 4;
const int DIM = 100;
const int THREADS = 128;

__device__ float block_dot(const float* x, const float* y, float* buffer) {
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int d = t; d < DIM; d += THREADS) sum += x[d] * y[d];
    buffer[t] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) buffer[t] += buffer[t + s];
        __syncthreads();
    }
    sum = buffer[0];
    __syncthreads();
    return sum;
}

// One block per set; a thread always handles the same components, so q needs no barrier of its own.
__global__ void gram_schmidt(const float* v, float* q, float* r) {
    __shared__ float buffer[THREADS];
    int t = threadIdx.x;
    float* qs = q + (size_t)blockIdx.x * K * DIM;
    float* rs = r + blockIdx.x * K * K;
    for (int e = t; e < K * K; e += THREADS) {
        if (e / K > e % K) rs[e] = 0.0f;
    }
    for (int j = 0; j < K; ++j) {
        float* u = qs + j * DIM;
        for (int d = t; d < DIM; d += THREADS) u[d] = v[((size_t)blockIdx.x * K + j) * DIM + d];
        for (int i = 0; i < j; ++i) {
            float dot = block_dot(qs + i * DIM, u, buffer);
            for (int d = t; d < DIM; d += THREADS) u[d] -= dot * qs[i * DIM + d];
            if (t == 0) rs[i * K + j] = dot;
        }
        float length = sqrtf(block_dot(u, u, buffer));
        for (int d = t; d < DIM; d += THREADS) u[d] /= length;
        if (t == 0) rs[j * K + j] = length;
    }
}

int main() {
    const size_t count_v = (size_t)SETS * K * DIM;
    const size_t count_r = (size_t)SETS * K * K;
    float* h_v = new float[count_v];
    float* h_q = new float[count_v];
    float* h_r = new float[count_r];
    read_data("data/v.bin", h_v, count_v * sizeof(float));

    float* d_v;
    cudaMalloc(&d_v, count_v * sizeof(float));
    float* d_q;
    cudaMalloc(&d_q, count_v * sizeof(float));
    float* d_r;
    cudaMalloc(&d_r, count_r * sizeof(float));
    cudaMemcpy(d_v, h_v, count_v * sizeof(float), cudaMemcpyHostToDevice);

    gram_schmidt<<<SETS, THREADS>>>(d_v, d_q, d_r);
    cudaDeviceSynchronize();

    cudaMemcpy(h_q, d_q, count_v * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_r, d_r, count_r * sizeof(float), cudaMemcpyDeviceToHost);
    write_data("data/q.bin", h_q, count_v * sizeof(float));
    write_data("data/r.bin", h_r, count_r * sizeof(float));

    cudaFree(d_v);
    cudaFree(d_q);
    cudaFree(d_r);
    delete[] h_v;
    delete[] h_q;
    delete[] h_r;
    return 0;
}
