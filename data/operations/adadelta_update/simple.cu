#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

static bool read_into(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

#define ROWS 30
#define COLS 333
#define COUNT (ROWS * COLS)

__global__ void adadelta(const float* weight, const float* grad, const float* acc_grad, const float* acc_delta,
                         float* weight_out, float* acc_grad_out, float* acc_delta_out) {
    const float rho = 0.95f, eps = 1e-6f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        float g = grad[i];
        float a = rho * acc_grad[i] + (1.0f - rho) * g * g;
        float delta = g * sqrtf(acc_delta[i] + eps) / sqrtf(a + eps);
        weight_out[i] = weight[i] - delta;
        acc_grad_out[i] = a;
        acc_delta_out[i] = rho * acc_delta[i] + (1.0f - rho) * delta * delta;
    }
}

int main() {
    float* weight = nullptr;
    float* grad = nullptr;
    float* acc_grad = nullptr;
    float* acc_delta = nullptr;
    float* weight_out = nullptr;
    float* acc_grad_out = nullptr;
    float* acc_delta_out = nullptr;
    cudaMallocManaged(&weight, COUNT * sizeof(float));
    cudaMallocManaged(&grad, COUNT * sizeof(float));
    cudaMallocManaged(&acc_grad, COUNT * sizeof(float));
    cudaMallocManaged(&acc_delta, COUNT * sizeof(float));
    cudaMallocManaged(&weight_out, COUNT * sizeof(float));
    cudaMallocManaged(&acc_grad_out, COUNT * sizeof(float));
    cudaMallocManaged(&acc_delta_out, COUNT * sizeof(float));

    if (!read_into("data/weight.bin", weight, COUNT * sizeof(float))) {
        fprintf(stderr, "cannot read data/weight.bin\n");
        return 1;
    }
    if (!read_into("data/grad.bin", grad, COUNT * sizeof(float))) {
        fprintf(stderr, "cannot read data/grad.bin\n");
        return 1;
    }
    if (!read_into("data/acc_grad.bin", acc_grad, COUNT * sizeof(float))) {
        fprintf(stderr, "cannot read data/acc_grad.bin\n");
        return 1;
    }
    if (!read_into("data/acc_delta.bin", acc_delta, COUNT * sizeof(float))) {
        fprintf(stderr, "cannot read data/acc_delta.bin\n");
        return 1;
    }

    adadelta<<<(COUNT + 255) / 256, 256>>>(weight, grad, acc_grad, acc_delta,
                                               weight_out, acc_grad_out, acc_delta_out);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    FILE* weight_out_file = fopen("data/weight_out.bin", "wb");
    if (!weight_out_file) return 1;
    fwrite(weight_out, sizeof(float), COUNT, weight_out_file);
    fclose(weight_out_file);
    FILE* acc_grad_out_file = fopen("data/acc_grad_out.bin", "wb");
    if (!acc_grad_out_file) return 1;
    fwrite(acc_grad_out, sizeof(float), COUNT, acc_grad_out_file);
    fclose(acc_grad_out_file);
    FILE* acc_delta_out_file = fopen("data/acc_delta_out.bin", "wb");
    if (!acc_delta_out_file) return 1;
    fwrite(acc_delta_out, sizeof(float), COUNT, acc_delta_out_file);
    fclose(acc_delta_out_file);

    cudaFree(weight);
    cudaFree(grad);
    cudaFree(acc_grad);
    cudaFree(acc_delta);
    cudaFree(weight_out);
    cudaFree(acc_grad_out);
    cudaFree(acc_delta_out);
    return 0;
}
