#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void read_data(const char* name, void* dst, size_t bytes) {
    FILE* f = fopen(name, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "bad file %s\n", name);
        exit(1);
    }
    fclose(f);
}

const int N = 14000;

__global__ void tweedie(const float* raw, const float* label, const float* weight, float* grad, float* hess, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = raw[i], w = weight[i];
        float a = label[i] * expf(-0.3f * s);
        float b = expf(0.7f * s);
        grad[i] = w * (b - a);
        hess[i] = fmaxf(w * (0.3f * a + 0.7f * b), 1e-6f);
    }
}

void solve(const float* d_raw, const float* d_label, const float* d_weight, float* d_grad,
           float* d_hess) {
    tweedie<<<(N + 255) / 256, 256>>>(d_raw, d_label, d_weight, d_grad, d_hess, N);
}

int main() {
    std::vector<float> host_raw(N);
    std::vector<float> host_label(N);
    std::vector<float> host_weight(N);
    std::vector<float> host_grad(N);
    std::vector<float> host_hess(N);
    read_data("data/raw.bin", host_raw.data(), N * sizeof(float));
    read_data("data/label.bin", host_label.data(), N * sizeof(float));
    read_data("data/weight.bin", host_weight.data(), N * sizeof(float));

    float *d_raw, *d_label, *d_weight, *d_grad, *d_hess;
    cudaMalloc(&d_raw, N * sizeof(float));
    cudaMalloc(&d_label, N * sizeof(float));
    cudaMalloc(&d_weight, N * sizeof(float));
    cudaMalloc(&d_grad, N * sizeof(float));
    cudaMalloc(&d_hess, N * sizeof(float));
    cudaMemcpy(d_raw, host_raw.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_label, host_label.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, host_weight.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_raw, d_label, d_weight, d_grad, d_hess);
    cudaDeviceSynchronize();

    cudaMemcpy(host_grad.data(), d_grad, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_hess.data(), d_hess, N * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* grad_out = fopen("data/grad.bin", "wb");
    fwrite(host_grad.data(), sizeof(float), host_grad.size(), grad_out);
    fclose(grad_out);
    FILE* hess_out = fopen("data/hess.bin", "wb");
    fwrite(host_hess.data(), sizeof(float), host_hess.size(), hess_out);
    fclose(hess_out);
    cudaFree(d_raw);
    cudaFree(d_label);
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_hess);
    return 0;
}
