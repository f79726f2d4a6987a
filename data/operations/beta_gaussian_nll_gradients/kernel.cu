#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CK(x)                                                                                  \
    do {                                                                                       \
        cudaError_t rc_ = (x);                                                                 \
        if (rc_ != cudaSuccess) {                                                              \
            printf("CUDA failure: %s (%s:%d)\n", cudaGetErrorString(rc_), __FILE__, __LINE__); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

#define ROWS 64
#define COLS 250
#define NUM_ELEMENTS (ROWS * COLS)

// With s = sqrt(v) = exp(logvar / 2): dmean = d / s and dlogvar = (s - d * (d / s)) / 2.
__global__ void beta_nll_stride(const float* __restrict__ mean, const float* __restrict__ logvar,
                                const float* __restrict__ target, float* __restrict__ dmean,
                                float* __restrict__ dlogvar) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < NUM_ELEMENTS; i += gridDim.x * blockDim.x) {
        const float raw = logvar[i];
        const float d = mean[i] - target[i];
        const float s = expf(0.5f * fminf(fmaxf(raw, -8.0f), 8.0f));
        const float z = d / s;
        dmean[i] = z;
        dlogvar[i] = fabsf(raw) <= 8.0f ? 0.5f * (s - d * z) : 0.0f;
    }
}

int main() {
    float* h_mean = (float*)malloc(NUM_ELEMENTS * sizeof(float));
    float* h_logvar = (float*)malloc(NUM_ELEMENTS * sizeof(float));
    float* h_target = (float*)malloc(NUM_ELEMENTS * sizeof(float));
    float* h_dmean = (float*)malloc(NUM_ELEMENTS * sizeof(float));
    float* h_dlogvar = (float*)malloc(NUM_ELEMENTS * sizeof(float));

    FILE* fp = fopen("data/mean.bin", "rb");
    if (!fp || fread(h_mean, sizeof(float), NUM_ELEMENTS, fp) != (size_t)NUM_ELEMENTS) {
        fprintf(stderr, "cannot read data/mean.bin\n");
        return 1;
    }
    fclose(fp);

    fp = fopen("data/logvar.bin", "rb");
    if (!fp || fread(h_logvar, sizeof(float), NUM_ELEMENTS, fp) != (size_t)NUM_ELEMENTS) {
        fprintf(stderr, "cannot read data/logvar.bin\n");
        return 1;
    }
    fclose(fp);

    fp = fopen("data/target.bin", "rb");
    if (!fp || fread(h_target, sizeof(float), NUM_ELEMENTS, fp) != (size_t)NUM_ELEMENTS) {
        fprintf(stderr, "cannot read data/target.bin\n");
        return 1;
    }
    fclose(fp);

    float *d_mean, *d_logvar, *d_target, *d_dmean, *d_dlogvar;
    CK(cudaMalloc(&d_mean, NUM_ELEMENTS * sizeof(float)));
    CK(cudaMalloc(&d_logvar, NUM_ELEMENTS * sizeof(float)));
    CK(cudaMalloc(&d_target, NUM_ELEMENTS * sizeof(float)));
    CK(cudaMalloc(&d_dmean, NUM_ELEMENTS * sizeof(float)));
    CK(cudaMalloc(&d_dlogvar, NUM_ELEMENTS * sizeof(float)));
    CK(cudaMemcpy(d_mean, h_mean, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d_logvar, h_logvar, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d_target, h_target, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));

    int blocks = (NUM_ELEMENTS + 255) / 256;
    if (blocks > 2048) blocks = 2048;
    beta_nll_stride<<<blocks, 256>>>(d_mean, d_logvar, d_target, d_dmean, d_dlogvar);
    CK(cudaGetLastError());
    CK(cudaMemcpy(h_dmean, d_dmean, NUM_ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(h_dlogvar, d_dlogvar, NUM_ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));

    fp = fopen("data/dmean.bin", "wb");
    if (!fp) {
        fprintf(stderr, "cannot open data/dmean.bin\n");
        return 1;
    }
    fwrite(h_dmean, sizeof(float), NUM_ELEMENTS, fp);
    fclose(fp);
    fp = fopen("data/dlogvar.bin", "wb");
    if (!fp) {
        fprintf(stderr, "cannot open data/dlogvar.bin\n");
        return 1;
    }
    fwrite(h_dlogvar, sizeof(float), NUM_ELEMENTS, fp);
    fclose(fp);
    cudaFree(d_mean);
    cudaFree(d_logvar);
    cudaFree(d_target);
    cudaFree(d_dmean);
    cudaFree(d_dlogvar);
    free(h_mean);
    free(h_logvar);
    free(h_target);
    free(h_dmean);
    free(h_dlogvar);
    return 0;
}
