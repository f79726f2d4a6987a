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

#define COUNT 3001
static int divUp(int a, int b) { return (a + b - 1) / b; }

__device__ float det3(const float* p, const float* q, const float* r) {
    return p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) + p[2] * (q[0] * r[1] - q[1] * r[0]);
}

// Columns are passed to det3 as its rows: transposing does not change a determinant.
__global__ void cramer(const float* a, const float* b, float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    float col[3][3], rhs[3];
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) col[c][r] = a[(3 * r + c) * COUNT + i];
        rhs[r] = b[r * COUNT + i];
    }
    float det = det3(col[0], col[1], col[2]);
    x[i] = det3(rhs, col[1], col[2]) / det;
    x[COUNT + i] = det3(col[0], rhs, col[2]) / det;
    x[2 * COUNT + i] = det3(col[0], col[1], rhs) / det;
}

int main() {
    const size_t n_a = (size_t)9 * COUNT;
    const size_t n_b = (size_t)3 * COUNT;
    float* h_a = new float[n_a];
    float* h_b = new float[n_b];
    float* h_x = new float[n_b];
    load_array("data/a.bin", h_a, n_a * sizeof(float));
    load_array("data/b.bin", h_b, n_b * sizeof(float));

    float *dev_a, *dev_b, *dev_x;
    cudaMalloc(&dev_a, n_a * sizeof(float));
    cudaMalloc(&dev_b, n_b * sizeof(float));
    cudaMalloc(&dev_x, n_b * sizeof(float));
    cudaMemcpy(dev_a, h_a, n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_b, h_b, n_b * sizeof(float), cudaMemcpyHostToDevice);

    cramer<<<divUp(COUNT, 256), 256>>>(dev_a, dev_b, dev_x);
    cudaDeviceSynchronize();

    cudaMemcpy(h_x, dev_x, n_b * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/x.bin", h_x, n_b * sizeof(float));

    delete[] h_a;
    delete[] h_b;
    delete[] h_x;
    cudaFree(dev_a);
    cudaFree(dev_b);
    cudaFree(dev_x);
    return 0;
}
