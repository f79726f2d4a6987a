#include <cstdio>
#include <cuda_runtime.h>

#define BATCH 40
#define N 20

// One block per matrix; thread i owns row i.
__global__ void lu_rows(const float* a, float* lu) {
    __shared__ float m[N][N + 1];
    int i = threadIdx.x;
    const float* src = a + (size_t)blockIdx.x * N * N;
    for (int r = 0; r < N; ++r) m[r][i] = src[r * N + i];
    __syncthreads();
    for (int k = 0; k < N - 1; ++k) {
        if (i > k) {
            float f = m[i][k] / m[k][k];
            m[i][k] = f;
            for (int j = k + 1; j < N; ++j) m[i][j] -= f * m[k][j];
        }
        __syncthreads();
    }
    float* dst = lu + (size_t)blockIdx.x * N * N;
    for (int r = 0; r < N; ++r) dst[r * N + i] = m[r][i];
}

int main() {
    const size_t a_elems = (size_t)BATCH * N * N;
    float *a, *lu;
    cudaMallocManaged(&a, a_elems * sizeof(float));
    cudaMallocManaged(&lu, a_elems * sizeof(float));

    FILE* file_a = fopen("data/a.bin", "rb");
    if (!file_a || fread(a, 1, a_elems * sizeof(float), file_a) != a_elems * sizeof(float)) {
        fprintf(stderr, "data/a.bin?\n");
        return 1;
    }
    fclose(file_a);

    lu_rows<<<BATCH, N>>>(a, lu);
    cudaDeviceSynchronize();

    FILE* out_lu = fopen("data/lu.bin", "wb");
    fwrite(lu, sizeof(float), a_elems, out_lu);
    fclose(out_lu);

    cudaFree(a);
    cudaFree(lu);
    return 0;
}
