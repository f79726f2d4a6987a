#include <stdio.h>
#include <stdlib.h>
#include <cmath>
#include <cuda_runtime.h>

const int LAYERS = 20;
const int WIDTH = 600;
const int COUNT = LAYERS * WIDTH;

#define CK(x) { cudaError_t status = (x); if (status != cudaSuccess) {                              \
    fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); exit(EXIT_FAILURE); } }

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

static void save_bin(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

__global__ void lars(const float* weight, const float* grad, const float* velocity,
                     float* weight_out, float* velocity_out, float* rate) {
    __shared__ float ww[512], gg[512];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * WIDTH;
    ww[t] = gg[t] = 0.0f;
    for (int i = t; i < WIDTH; i += 512) {
        float w = weight[base + i], g = grad[base + i];
        ww[t] += w * w;
        gg[t] += g * g;
    }
    __syncthreads();
    for (int s = 256; s > 0; s /= 2) {
        if (t < s) {
            ww[t] += ww[t + s];
            gg[t] += gg[t + s];
        }
        __syncthreads();
    }
    float nw = sqrtf(ww[0]), ng = sqrtf(gg[0]);
    float r = nw > 0.0f && ng > 0.0f ? 0.001f * nw / (ng + 0.0005f * nw) : 1.0f;
    if (t == 0) rate[blockIdx.x] = r;
    for (int i = t; i < WIDTH; i += 512) {
        float w = weight[base + i];
        float v = 0.9f * velocity[base + i] + r * 0.1f * (grad[base + i] + 0.0005f * w);
        velocity_out[base + i] = v;
        weight_out[base + i] = w - v;
    }
}

int main() {
    float* h_weight = (float*)malloc(COUNT * sizeof(float));
    float* h_grad = (float*)malloc(COUNT * sizeof(float));
    float* h_velocity = (float*)malloc(COUNT * sizeof(float));
    float* h_weight_out = (float*)malloc(COUNT * sizeof(float));
    float* h_velocity_out = (float*)malloc(COUNT * sizeof(float));
    float* h_rate = (float*)malloc(LAYERS * sizeof(float));
    load_bin("data/weight.bin", h_weight, COUNT * sizeof(float));
    load_bin("data/grad.bin", h_grad, COUNT * sizeof(float));
    load_bin("data/velocity.bin", h_velocity, COUNT * sizeof(float));

    float* dev_weight;
    float* dev_grad;
    float* dev_velocity;
    float* dev_weight_out;
    float* dev_velocity_out;
    float* dev_rate;
    CK(cudaMalloc(&dev_weight, COUNT * sizeof(float)));
    CK(cudaMalloc(&dev_grad, COUNT * sizeof(float)));
    CK(cudaMalloc(&dev_velocity, COUNT * sizeof(float)));
    CK(cudaMalloc(&dev_weight_out, COUNT * sizeof(float)));
    CK(cudaMalloc(&dev_velocity_out, COUNT * sizeof(float)));
    CK(cudaMalloc(&dev_rate, LAYERS * sizeof(float)));
    CK(cudaMemcpy(dev_weight, h_weight, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dev_grad, h_grad, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dev_velocity, h_velocity, COUNT * sizeof(float), cudaMemcpyHostToDevice));

    lars<<<LAYERS, 512>>>(dev_weight, dev_grad, dev_velocity, dev_weight_out, dev_velocity_out, dev_rate);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(h_weight_out, dev_weight_out, COUNT * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(h_velocity_out, dev_velocity_out, COUNT * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(h_rate, dev_rate, LAYERS * sizeof(float), cudaMemcpyDeviceToHost));

    save_bin("data/weight_out.bin", h_weight_out, COUNT * sizeof(float));
    save_bin("data/velocity_out.bin", h_velocity_out, COUNT * sizeof(float));
    save_bin("data/rate.bin", h_rate, LAYERS * sizeof(float));
    cudaFree(dev_weight);
    cudaFree(dev_grad);
    cudaFree(dev_velocity);
    cudaFree(dev_weight_out);
    cudaFree(dev_velocity_out);
    cudaFree(dev_rate);
    free(h_weight);
    free(h_grad);
    free(h_velocity);
    free(h_weight_out);
    free(h_velocity_out);
    free(h_rate);
    return 0;
}
