#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define P 7
#define Q 9
#define R 8
#define S 10

#define gpuErrchk(call)                                                              \
    do {                                                                             \
        const cudaError_t err = (call);                                              \
        if (err) {                                                                   \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(err));      \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

// One block per row of the result: it needs one row of a and one row of b.
__global__ void kronecker_rows(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ k) {
    __shared__ float rowA[Q];
    __shared__ float rowB[S];
    const int i = blockIdx.x / R;
    const int u = blockIdx.x % R;
    for (int j = threadIdx.x; j < Q; j += blockDim.x) rowA[j] = a[i * Q + j];
    for (int v = threadIdx.x; v < S; v += blockDim.x) rowB[v] = b[u * S + v];
    __syncthreads();
    float* out = k + (size_t)blockIdx.x * (Q * S);
    for (int col = threadIdx.x; col < Q * S; col += blockDim.x) {
        const int j = col / S;
        out[col] = rowA[j] * rowB[col - j * S];
    }
}

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main(void) {
    const size_t a_elems = (size_t)P * Q;
    const size_t b_elems = (size_t)R * S;
    const size_t k_elems = (size_t)P * R * Q * S;
    float* host_a = (float*)malloc(a_elems * sizeof(float));
    float* host_b = (float*)malloc(b_elems * sizeof(float));
    float* host_k = (float*)malloc(k_elems * sizeof(float));

    read_file("data/a.bin", host_a, a_elems * sizeof(float));
    read_file("data/b.bin", host_b, b_elems * sizeof(float));

    float *d_a, *d_b, *d_k;
    gpuErrchk(cudaMalloc(&d_a, a_elems * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_b, b_elems * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_k, k_elems * sizeof(float)));
    gpuErrchk(cudaMemcpy(d_a, host_a, a_elems * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_b, host_b, b_elems * sizeof(float), cudaMemcpyHostToDevice));

    kronecker_rows<<<P * R, 128>>>(d_a, d_b, d_k);
    gpuErrchk(cudaGetLastError());

    gpuErrchk(cudaMemcpy(host_k, d_k, k_elems * sizeof(float), cudaMemcpyDeviceToHost));
    write_file("data/k.bin", host_k, k_elems * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_k);
    free(host_a);
    free(host_b);
    free(host_k);
    return 0;
}
