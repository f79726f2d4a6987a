#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define N 10000

__global__ void instalments(const float* principal, const float* rate, const int* months, float* payment,
                            float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float r = rate[i] / 1200.0f;
        float m = (float)months[i];
        float pay;
        if (r == 0.0f) pay = principal[i] / m;
        else pay = principal[i] * r / -expm1f(-m * log1pf(r));
        payment[i] = pay;
        total[i] = pay * m;
    }
}

static void readFile(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

void launch(const float* d_principal, const float* d_rate, const int* d_months, float* d_payment, float* d_total) {
    const int threads = 256;
    const int blocks = (N + threads - 1) / threads;
    instalments<<<blocks, threads>>>(d_principal, d_rate, d_months, d_payment, d_total, N);
    cudaDeviceSynchronize();
}

int main() {
    std::vector<float> host_principal(N);
    std::vector<float> host_rate(N);
    std::vector<int> host_months(N);
    std::vector<float> host_payment(N);
    std::vector<float> host_total(N);
    readFile("data/principal.bin", host_principal.data(), N * sizeof(float));
    readFile("data/rate.bin", host_rate.data(), N * sizeof(float));
    readFile("data/months.bin", host_months.data(), N * sizeof(int));

    float *d_principal, *d_rate, *d_payment, *d_total;
    int* d_months;
    cudaMalloc(&d_principal, N * sizeof(float));
    cudaMalloc(&d_rate, N * sizeof(float));
    cudaMalloc(&d_months, N * sizeof(int));
    cudaMalloc(&d_payment, N * sizeof(float));
    cudaMalloc(&d_total, N * sizeof(float));
    cudaMemcpy(d_principal, host_principal.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, host_rate.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_months, host_months.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    launch(d_principal, d_rate, d_months, d_payment, d_total);
    cudaMemcpy(host_payment.data(), d_payment, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_total.data(), d_total, N * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out_payment = fopen("data/payment.bin", "wb");
    fwrite(host_payment.data(), sizeof(float), host_payment.size(), out_payment);
    fclose(out_payment);
    FILE* out_total = fopen("data/total.bin", "wb");
    fwrite(host_total.data(), sizeof(float), host_total.size(), out_total);
    fclose(out_total);
    cudaFree(d_principal);
    cudaFree(d_rate);
    cudaFree(d_months);
    cudaFree(d_payment);
    cudaFree(d_total);
    return 0;
}
