#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

const int LINES = 20;
const int CELLS = 200;
const int LINKS = CELLS - 1;
const int STEPS = 30;
const int THREADS = 256;

#define CUDA_CHECK(x) \
    if ((x) != cudaSuccess) { \
        fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
        exit(1); \
    }

static void read_raw(const char* path, void* dst, size_t bytes) {
    FILE* fp = fopen(path, "rb");
    if (!fp || fread(dst, 1, bytes, fp) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(fp);
}

static void write_raw(const char* path, const void* src, size_t bytes) {
    FILE* fp = fopen(path, "wb");
    if (!fp || fwrite(src, 1, bytes, fp) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(fp);
}

// One block a line: all steps run in shared memory, with a zero current at either end.
__global__ void line_in_shared(const float* __restrict__ voltage, const float* __restrict__ current,
                               float* __restrict__ new_voltage, float* __restrict__ new_current) {
    __shared__ float v[CELLS];
    __shared__ float i[CELLS + 1];
    const size_t cell = (size_t)blockIdx.x * CELLS;
    const size_t link = (size_t)blockIdx.x * LINKS;
    for (int k = threadIdx.x; k < CELLS; k += THREADS) {
        v[k] = voltage[cell + k];
        i[k] = k > 0 ? current[link + k - 1] : 0.0f;
    }
    if (threadIdx.x == 0) i[CELLS] = 0.0f;
    __syncthreads();
    for (int s = 0; s < STEPS; ++s) {
        for (int k = threadIdx.x + 1; k < CELLS; k += THREADS) i[k] = 0.98f * i[k] - 0.5f * (v[k] - v[k - 1]);
        __syncthreads();
        for (int k = threadIdx.x; k < CELLS; k += THREADS) v[k] = 0.995f * v[k] - 0.4f * (i[k + 1] - i[k]);
        __syncthreads();
    }
    for (int k = threadIdx.x; k < CELLS; k += THREADS) {
        new_voltage[cell + k] = v[k];
        if (k > 0) new_current[link + k - 1] = i[k];
    }
}

int main(void) {
    float* h_voltage = (float*)malloc(LINES * CELLS * sizeof(float));
    float* h_current = (float*)malloc(LINES * LINKS * sizeof(float));
    float* h_new_voltage = (float*)malloc(LINES * CELLS * sizeof(float));
    float* h_new_current = (float*)malloc(LINES * LINKS * sizeof(float));
    read_raw("data/voltage.bin", h_voltage, LINES * CELLS * sizeof(float));
    read_raw("data/current.bin", h_current, LINES * LINKS * sizeof(float));

    float* d_voltage;
    float* d_current;
    float* d_new_voltage;
    float* d_new_current;
    CUDA_CHECK(cudaMalloc(&d_voltage, LINES * CELLS * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_current, LINES * LINKS * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_new_voltage, LINES * CELLS * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_new_current, LINES * LINKS * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_voltage, h_voltage, LINES * CELLS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_current, h_current, LINES * LINKS * sizeof(float), cudaMemcpyHostToDevice));

    line_in_shared<<<LINES, THREADS>>>(d_voltage, d_current, d_new_voltage, d_new_current);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(h_new_voltage, d_new_voltage, LINES * CELLS * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(h_new_current, d_new_current, LINES * LINKS * sizeof(float), cudaMemcpyDeviceToHost));

    write_raw("data/new_voltage.bin", h_new_voltage, LINES * CELLS * sizeof(float));
    write_raw("data/new_current.bin", h_new_current, LINES * LINKS * sizeof(float));

    cudaFree(d_voltage);
    cudaFree(d_current);
    cudaFree(d_new_voltage);
    cudaFree(d_new_current);
    free(h_voltage);
    free(h_current);
    free(h_new_voltage);
    free(h_new_current);
    return 0;
}
