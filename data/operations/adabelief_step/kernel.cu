#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define N 11000

#define TRY_CUDA(expr)                                                                      \
    do {                                                                                    \
        cudaError_t status = (expr);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

static void fetch(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

static void put(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

struct Rates {
    float lr;       // 0.001 / (1 - 0.9^t)
    float inv_c2;   // 1 / sqrt(1 - 0.999^t)
    float decay;
};

__device__ void belief(float& p, float g, float& m, float& s, Rates r) {
    m += 0.1f * (g - m);
    const float d = g - m;
    s = fmaf(0.999f, s, fmaf(0.001f * d, d, 1e-8f));
    p = p * r.decay - r.lr * m / (sqrtf(s) * r.inv_c2 + 1e-8f);
}

__global__ void adabelief4(const float* param, const float* grad, const float* m, const float* s,
                           float* param_out, float* m_out, float* s_out, Rates r) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < N) {
        float4 p4 = *(const float4*)(param + i), m4 = *(const float4*)(m + i), s4 = *(const float4*)(s + i);
        const float4 g4 = *(const float4*)(grad + i);
        belief(p4.x, g4.x, m4.x, s4.x, r);
        belief(p4.y, g4.y, m4.y, s4.y, r);
        belief(p4.z, g4.z, m4.z, s4.z, r);
        belief(p4.w, g4.w, m4.w, s4.w, r);
        *(float4*)(param_out + i) = p4;
        *(float4*)(m_out + i) = m4;
        *(float4*)(s_out + i) = s4;
    } else {
        for (int k = i; k < N; ++k) {
            float p1 = param[k], m1 = m[k], s1 = s[k];
            belief(p1, grad[k], m1, s1, r);
            param_out[k] = p1;
            m_out[k] = m1;
            s_out[k] = s1;
        }
    }
}

int main() {
    float* host_param = (float*)malloc(N * sizeof(float));
    float* host_grad = (float*)malloc(N * sizeof(float));
    float* host_m = (float*)malloc(N * sizeof(float));
    float* host_s = (float*)malloc(N * sizeof(float));
    float* host_param_out = (float*)malloc(N * sizeof(float));
    float* host_m_out = (float*)malloc(N * sizeof(float));
    float* host_s_out = (float*)malloc(N * sizeof(float));
    fetch("data/param.bin", host_param, N * sizeof(float));
    fetch("data/grad.bin", host_grad, N * sizeof(float));
    fetch("data/m.bin", host_m, N * sizeof(float));
    fetch("data/s.bin", host_s, N * sizeof(float));

    float* d_param;
    float* d_grad;
    float* d_m;
    float* d_s;
    float* d_param_out;
    float* d_m_out;
    float* d_s_out;
    TRY_CUDA(cudaMalloc(&d_param, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_grad, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_m, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_s, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_param_out, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_m_out, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_s_out, N * sizeof(float)));
    TRY_CUDA(cudaMemcpy(d_param, host_param, N * sizeof(float), cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy(d_grad, host_grad, N * sizeof(float), cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy(d_m, host_m, N * sizeof(float), cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy(d_s, host_s, N * sizeof(float), cudaMemcpyHostToDevice));

    const double b1 = 1.0 - std::pow(0.9, 20), b2 = 1.0 - std::pow(0.999, 20);
    Rates rates = {(float)(0.001 / b1), (float)(1.0 / std::sqrt(b2)), 1.0f - 0.001f * 0.01f};
    adabelief4<<<((N + 3) / 4 + 255) / 256, 256>>>(d_param, d_grad, d_m, d_s, d_param_out, d_m_out, d_s_out, rates);
    TRY_CUDA(cudaGetLastError());
    TRY_CUDA(cudaDeviceSynchronize());
    TRY_CUDA(cudaMemcpy(host_param_out, d_param_out, N * sizeof(float), cudaMemcpyDeviceToHost));
    TRY_CUDA(cudaMemcpy(host_m_out, d_m_out, N * sizeof(float), cudaMemcpyDeviceToHost));
    TRY_CUDA(cudaMemcpy(host_s_out, d_s_out, N * sizeof(float), cudaMemcpyDeviceToHost));

    put("data/param_out.bin", host_param_out, N * sizeof(float));
    put("data/m_out.bin", host_m_out, N * sizeof(float));
    put("data/s_out.bin", host_s_out, N * sizeof(float));
    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_m);
    cudaFree(d_s);
    cudaFree(d_param_out);
    cudaFree(d_m_out);
    cudaFree(d_s_out);
    free(host_param);
    free(host_grad);
    free(host_m);
    free(host_s);
    free(host_param_out);
    free(host_m_out);
    free(host_s_out);
    return 0;
}
