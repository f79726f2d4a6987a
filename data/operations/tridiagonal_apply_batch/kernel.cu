#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

void load_array(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(file);
}

void save_array(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error writing %s\n", path);
        exit(1);
    }
    fclose(file);
}
//@given

const int BATCH = 16;
const int N = 513;
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void tridiagonal_rows(const float* __restrict__ lower, const float* __restrict__ diag,
                                 const float* __restrict__ upper, const float* __restrict__ x,
                                 float* __restrict__ y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    // The three coefficients are read once and serve several vectors.
    const float l = i > 0 ? lower[i] : 0.0f;
    const float d = diag[i];
    const float u = i + 1 < N ? upper[i] : 0.0f;
    const int left = i > 0 ? -1 : 0;
    const int right = i + 1 < N ? 1 : 0;
    for (int b = blockIdx.y; b < BATCH; b += gridDim.y) {
        const float* p = x + b * N + i;
        y[b * N + i] = l * p[left] + d * p[0] + u * p[right];
    }
}

int main() {
    const size_t x_elems = (size_t)BATCH * N;
    float* h_lower = new float[N];
    float* h_diag = new float[N];
    float* h_upper = new float[N];
    float* h_x = new float[x_elems];
    float* h_y = new float[x_elems];
    load_array("data/lower.bin", h_lower, N * sizeof(float));
    load_array("data/diag.bin", h_diag, N * sizeof(float));
    load_array("data/upper.bin", h_upper, N * sizeof(float));
    load_array("data/x.bin", h_x, x_elems * sizeof(float));

    float *d_lower, *d_diag, *d_upper, *d_x, *d_y;
    cudaMalloc(&d_lower, N * sizeof(float));
    cudaMalloc(&d_diag, N * sizeof(float));
    cudaMalloc(&d_upper, N * sizeof(float));
    cudaMalloc(&d_x, x_elems * sizeof(float));
    cudaMalloc(&d_y, x_elems * sizeof(float));
    cudaMemcpy(d_lower, h_lower, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_diag, h_diag, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_upper, h_upper, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x, x_elems * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid(DIV_UP(N, 128), BATCH < 64 ? BATCH : 64);
    tridiagonal_rows<<<grid, 128>>>(d_lower, d_diag, d_upper, d_x, d_y);

    cudaMemcpy(h_y, d_y, x_elems * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/y.bin", h_y, x_elems * sizeof(float));

    delete[] h_lower;
    delete[] h_diag;
    delete[] h_upper;
    delete[] h_x;
    delete[] h_y;
    cudaFree(d_lower);
    cudaFree(d_diag);
    cudaFree(d_upper);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
