#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define RODS 40
#define CELLS 300
#define STEPS 12

#define TRY(x) { cudaError_t rc = (x); \
    if (rc != cudaSuccess) { printf("%s failed: %s\n", #x, cudaGetErrorString(rc)); exit(1); } }

__global__ void heat_step(const float* t, const float* alpha, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int rod = blockIdx.y;
    if (i >= CELLS) return;
    const float* row = t + (size_t)rod * CELLS;
    float left = row[i > 0 ? i - 1 : 0];
    float right = row[i < CELLS - 1 ? i + 1 : CELLS - 1];
    out[(size_t)rod * CELLS + i] = row[i] + alpha[rod] * (left - 2.0f * row[i] + right);
}

static void read_all(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main(void) {
    const int count = RODS * CELLS;
    float* h_temperature = (float*)malloc(count * sizeof(float));
    float* h_alpha = (float*)malloc(RODS * sizeof(float));
    float* h_result = (float*)malloc(count * sizeof(float));

    read_all("data/temperature.bin", h_temperature, count * sizeof(float));
    read_all("data/alpha.bin", h_alpha, RODS * sizeof(float));

    float* d_temperature;
    float* d_alpha;
    float* d_result;
    float* d_scratch;
    TRY(cudaMalloc((void**)&d_temperature, count * sizeof(float)));
    TRY(cudaMalloc(&d_alpha, RODS * sizeof(float)));
    TRY(cudaMalloc((void**)&d_result, count * sizeof(float)));
    TRY(cudaMalloc(&d_scratch, count * sizeof(float)));
    TRY(cudaMemcpy(d_temperature, h_temperature, count * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(d_alpha, h_alpha, RODS * sizeof(float), cudaMemcpyHostToDevice));

    dim3 grid((CELLS + 255) / 256, RODS);
    const float* src = d_temperature;
    for (int s = 0; s < STEPS; ++s) {
        // the last step writes to the result
        float* dst = (STEPS - s) % 2 == 1 ? d_result : d_scratch;
        heat_step<<<grid, 256>>>(src, d_alpha, dst);
        src = dst;
    }
    TRY(cudaGetLastError());

    TRY(cudaMemcpy(h_result, d_result, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/result.bin", "wb");
    if (!out || fwrite(h_result, sizeof(float), count, out) != (size_t)count) {
        fprintf(stderr, "could not write data/result.bin\n");
        return 1;
    }
    fclose(out);

    free(h_temperature);
    free(h_alpha);
    free(h_result);
    cudaFree(d_temperature);
    cudaFree(d_alpha);
    cudaFree(d_result);
    cudaFree(d_scratch);
    return 0;
}
