#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

static void read_values(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
}

void write_values(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(file);
}
//@given

static const int ROWS = 90;
static const int COLS = 130;
static const int PICKS = 60;
static const int TOTAL = PICKS * COLS;

static int div_up(int a, int b) { return (a + b - 1) / b; }

__device__ float fetch(const float* __restrict__ x, int j, int c) {
    return x[(j + (j < 0 ? ROWS : 0)) * COLS + c];
}

// Four consecutive picks of the flat list at a time; a group may run over the end of a row.
__global__ void take_four(const float* __restrict__ x, const int4* __restrict__ indices,
                          float4* __restrict__ taken) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * g + 3 < TOTAL) {
        int4 j = indices[g];
        float4 v;
        v.x = fetch(x, j.x, (4 * g) % COLS);
        v.y = fetch(x, j.y, (4 * g + 1) % COLS);
        v.z = fetch(x, j.z, (4 * g + 2) % COLS);
        v.w = fetch(x, j.w, (4 * g + 3) % COLS);
        taken[g] = v;
    } else {
        const int* tail = (const int*)indices;
        for (int i = 4 * g; i < TOTAL; ++i) ((float*)taken)[i] = fetch(x, tail[i], i % COLS);
    }
}

int main() {
    const size_t x_len = (size_t)ROWS * COLS;
    const size_t indices_len = (size_t)PICKS * COLS;
    float* h_x = new float[x_len];
    int* h_indices = new int[indices_len];
    float* h_taken = new float[indices_len];
    read_values("data/x.bin", h_x, x_len * sizeof(float));
    read_values("data/indices.bin", h_indices, indices_len * sizeof(int));

    float* d_x = nullptr;
    cudaMalloc(&d_x, x_len * sizeof(float));
    cudaMemcpy(d_x, h_x, x_len * sizeof(float), cudaMemcpyHostToDevice);
    int* d_indices = nullptr;
    cudaMalloc(&d_indices, indices_len * sizeof(int));
    cudaMemcpy(d_indices, h_indices, indices_len * sizeof(int), cudaMemcpyHostToDevice);
    float* d_taken = nullptr;
    cudaMalloc(&d_taken, indices_len * sizeof(float));

    take_four<<<div_up((TOTAL + 3) / 4, 256), 256>>>(d_x, (const int4*)d_indices, (float4*)d_taken);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(status));
        return 1;
    }
    cudaMemcpy(h_taken, d_taken, indices_len * sizeof(float), cudaMemcpyDeviceToHost);

    write_values("data/taken.bin", h_taken, indices_len * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_indices);
    cudaFree(d_taken);
    delete[] h_x;
    delete[] h_indices;
    delete[] h_taken;
    return 0;
}
