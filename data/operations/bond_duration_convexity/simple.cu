#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(x)                                                                         \
    do {                                                                                      \
        cudaError_t e_ = (x);                                                                 \
        if (e_ != cudaSuccess) {                                                              \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(e_)); \
            exit(EXIT_FAILURE);                                                               \
        }                                                                                     \
    } while (0)

#define N 4000

__global__ void bond_kernel(const float* coupon, const float* yield_rate, const int* periods,
                            float* price, float* duration, float* convexity) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float growth = 1.0f + yield_rate[i];
    float discount = 1.0f;
    float p = 0.0f, first = 0.0f, second = 0.0f;
    for (int k = 1; k <= periods[i]; ++k) {
        discount /= growth;
        float pay = coupon[i];
        if (k == periods[i]) pay += 100.0f;
        float value = pay * discount;
        p += value;
        first += k * value;
        second += k * (k + 1) * value;
    }
    price[i] = p;
    duration[i] = first / (p * growth);
    convexity[i] = second / (p * growth * growth);
}

int main() {
    float* h_coupon = (float*)malloc(sizeof(float) * N);
    float* h_yield_rate = (float*)malloc(sizeof(float) * N);
    int* h_periods = (int*)malloc(sizeof(int) * N);
    float* h_price = (float*)malloc(sizeof(float) * N);
    float* h_duration = (float*)malloc(sizeof(float) * N);
    float* h_convexity = (float*)malloc(sizeof(float) * N);

    FILE* f = fopen("data/coupon.bin", "rb");
    if (!f || fread(h_coupon, sizeof(float), N, f) != (size_t)N) {
        fprintf(stderr, "cannot read data/coupon.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/yield_rate.bin", "rb");
    if (!f || fread(h_yield_rate, sizeof(float), N, f) != (size_t)N) {
        fprintf(stderr, "cannot read data/yield_rate.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/periods.bin", "rb");
    if (!f || fread(h_periods, sizeof(int), N, f) != (size_t)N) {
        fprintf(stderr, "cannot read data/periods.bin\n");
        return 1;
    }
    fclose(f);

    float *d_coupon, *d_yield_rate, *d_price, *d_duration, *d_convexity;
    int *d_periods;
    CUDA_CHECK(cudaMalloc(&d_coupon, sizeof(float) * N));
    CUDA_CHECK(cudaMalloc(&d_yield_rate, sizeof(float) * N));
    CUDA_CHECK(cudaMalloc(&d_periods, sizeof(int) * N));
    CUDA_CHECK(cudaMalloc(&d_price, sizeof(float) * N));
    CUDA_CHECK(cudaMalloc(&d_duration, sizeof(float) * N));
    CUDA_CHECK(cudaMalloc(&d_convexity, sizeof(float) * N));
    CUDA_CHECK(cudaMemcpy(d_coupon, h_coupon, sizeof(float) * N, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_yield_rate, h_yield_rate, sizeof(float) * N, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_periods, h_periods, sizeof(int) * N, cudaMemcpyHostToDevice));

    int threads = 256;
    bond_kernel<<<(N + threads - 1) / threads, threads>>>(d_coupon, d_yield_rate, d_periods, d_price,
        d_duration, d_convexity);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(h_price, d_price, sizeof(float) * N, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(h_duration, d_duration, sizeof(float) * N, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(h_convexity, d_convexity, sizeof(float) * N, cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/price.bin", "wb");
    if (!out || fwrite(h_price, sizeof(float), N, out) != (size_t)N) {
        fprintf(stderr, "cannot write data/price.bin\n");
        return 1;
    }
    fclose(out);
    out = fopen("data/duration.bin", "wb");
    if (!out || fwrite(h_duration, sizeof(float), N, out) != (size_t)N) {
        fprintf(stderr, "cannot write data/duration.bin\n");
        return 1;
    }
    fclose(out);
    out = fopen("data/convexity.bin", "wb");
    if (!out || fwrite(h_convexity, sizeof(float), N, out) != (size_t)N) {
        fprintf(stderr, "cannot write data/convexity.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_coupon);
    cudaFree(d_yield_rate);
    cudaFree(d_periods);
    cudaFree(d_price);
    cudaFree(d_duration);
    cudaFree(d_convexity);
    free(h_coupon);
    free(h_yield_rate);
    free(h_periods);
    free(h_price);
    free(h_duration);
    free(h_convexity);
    return 0;
}
