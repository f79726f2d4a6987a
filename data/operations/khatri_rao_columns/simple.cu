#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

void read_bin(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(file);
}

void write_bin(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error writing %s\n", path);
        exit(1);
    }
    fclose(file);
}
//@given

#define GRID_FOR(a, b) (((a) + (b) - 1) / (b))
#define LEFT 20
#define RIGHT 33
#define RANK 17

__global__ void khatri_rao(const float* __restrict__ a, const float* __restrict__ b, const float* weight,
        float* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= LEFT * RIGHT * RANK) return;
    int c = t % RANK;
    int pair = t / RANK;
    int i = pair / RIGHT;
    int j = pair % RIGHT;
    out[t] = weight[c] * a[i * RANK + c] * b[j * RANK + c];
}

int main() {
    float* host_a = new float[LEFT * RANK];
    float* host_b = new float[RIGHT * RANK];
    float* host_lambda_r = new float[RANK];
    float* host_out = new float[LEFT * RIGHT * RANK];
    read_bin("data/a.bin", host_a, sizeof(float) * LEFT * RANK);
    read_bin("data/b.bin", host_b, sizeof(float) * RIGHT * RANK);
    read_bin("data/lambda_r.bin", host_lambda_r, RANK * sizeof(float));

    float* dev_a;
    cudaMalloc(&dev_a, sizeof(float) * LEFT * RANK);
    float* dev_b;
    cudaMalloc(&dev_b, sizeof(float) * RIGHT * RANK);
    float* dev_lambda_r;
    cudaMalloc(&dev_lambda_r, RANK * sizeof(float));
    float* dev_out;
    cudaMalloc(&dev_out, sizeof(float) * LEFT * RIGHT * RANK);
    cudaMemcpy(dev_a, host_a, sizeof(float) * LEFT * RANK, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_b, host_b, sizeof(float) * RIGHT * RANK, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_lambda_r, host_lambda_r, RANK * sizeof(float), cudaMemcpyHostToDevice);

    khatri_rao<<<GRID_FOR(LEFT * RIGHT * RANK, 256), 256>>>(dev_a, dev_b, dev_lambda_r, dev_out);
    cudaDeviceSynchronize();

    cudaMemcpy(host_out, dev_out, sizeof(float) * LEFT * RIGHT * RANK, cudaMemcpyDeviceToHost);
    write_bin("data/out.bin", host_out, sizeof(float) * LEFT * RIGHT * RANK);

    delete[] host_a;
    delete[] host_b;
    delete[] host_lambda_r;
    delete[] host_out;
    cudaFree(dev_a);
    cudaFree(dev_b);
    cudaFree(dev_lambda_r);
    cudaFree(dev_out);
    return 0;
}
