#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void check(cudaError_t code, const char* msg) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(code));
        exit(1);
    }
}

static bool readFile(const char* path, void* dst, size_t size) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(dst, 1, size, f) == size;
    fclose(f);
    return ok;
}

static bool writeFile(const char* path, const void* dst, size_t size) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(dst, 1, size, f) == size;
    fclose(f);
    return ok;
}

constexpr int kLayers = 20;
constexpr int kWidth = 600;

// norms[2 * layer] and norms[2 * layer + 1] collect the squared norms.
__global__ void square_norms(const float* __restrict__ weight, const float* __restrict__ grad, float* norms) {
    const size_t base = (size_t)blockIdx.y * kWidth;
    float ww = 0.0f, gg = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kWidth; i += gridDim.x * blockDim.x) {
        ww = fmaf(weight[base + i], weight[base + i], ww);
        gg = fmaf(grad[base + i], grad[base + i], gg);
    }
    for (int d = 16; d > 0; d >>= 1) {
        ww += __shfl_down_sync(0xffffffffu, ww, d);
        gg += __shfl_down_sync(0xffffffffu, gg, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&norms[2 * blockIdx.y], ww);
        atomicAdd(&norms[2 * blockIdx.y + 1], gg);
    }
}

__global__ void apply_rates(const float* __restrict__ weight, const float* __restrict__ grad,
                            const float* __restrict__ velocity, const float* __restrict__ norms,
                            float* __restrict__ weight_out, float* __restrict__ velocity_out,
                                    float* __restrict__ rate) {
    const float nw = sqrtf(norms[2 * blockIdx.y]), ng = sqrtf(norms[2 * blockIdx.y + 1]);
    float r = 1.0f;
    if (nw > 0.0f && ng > 0.0f) r = 0.001f * nw / (ng + 0.0005f * nw);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) rate[blockIdx.y] = r;
    if (i >= kWidth) return;
    const size_t at = (size_t)blockIdx.y * kWidth + i;
    const float w = weight[at];
    const float v = 0.9f * velocity[at] + 0.1f * r * (grad[at] + 0.0005f * w);
    velocity_out[at] = v;
    weight_out[at] = w - v;
}

int main() {
    std::vector<float> hWeight(kLayers * kWidth);
    std::vector<float> hGrad(kLayers * kWidth);
    std::vector<float> hVelocity(kLayers * kWidth);
    std::vector<float> h_weight_out(kLayers * kWidth);
    std::vector<float> h_velocity_out(kLayers * kWidth);
    std::vector<float> hRate(kLayers);
    if (!readFile("data/weight.bin", hWeight.data(), kLayers * kWidth * sizeof(float)) ||
        !readFile("data/grad.bin", hGrad.data(), kLayers * kWidth * sizeof(float)) ||
        !readFile("data/velocity.bin", hVelocity.data(), kLayers * kWidth * sizeof(float))) {
        fprintf(stderr, "failed to read the data files\n");
        return 1;
    }

    float *dev_weight, *dev_grad, *dev_velocity, *dev_weight_out, *dev_velocity_out, *dev_rate, *dev_norms;
    check(cudaMalloc(&dev_weight, kLayers * kWidth * sizeof(float)), "cudaMalloc weight");
    check(cudaMalloc(&dev_grad, kLayers * kWidth * sizeof(float)), "cudaMalloc grad");
    check(cudaMalloc(&dev_velocity, kLayers * kWidth * sizeof(float)), "cudaMalloc velocity");
    check(cudaMalloc(&dev_weight_out, kLayers * kWidth * sizeof(float)), "cudaMalloc weight_out");
    check(cudaMalloc(&dev_velocity_out, kLayers * kWidth * sizeof(float)), "cudaMalloc velocity_out");
    check(cudaMalloc(&dev_rate, kLayers * sizeof(float)), "cudaMalloc rate");
    check(cudaMalloc(&dev_norms, kLayers * 2 * sizeof(float)), "cudaMalloc norms");
    check(cudaMemcpy(dev_weight, hWeight.data(), kLayers * kWidth * sizeof(float), cudaMemcpyHostToDevice),
            "memcpy weight");
    check(cudaMemcpy(dev_grad, hGrad.data(), kLayers * kWidth * sizeof(float), cudaMemcpyHostToDevice),
            "memcpy grad");
    check(cudaMemcpy(dev_velocity, hVelocity.data(), kLayers * kWidth * sizeof(float), cudaMemcpyHostToDevice),
            "memcpy velocity");
    check(cudaMemset(dev_norms, 0, kLayers * 2 * sizeof(float)), "memset");

    square_norms<<<dim3(8, kLayers), 256>>>(dev_weight, dev_grad, dev_norms);
    apply_rates<<<dim3((kWidth + 255) / 256, kLayers), 256>>>(dev_weight, dev_grad, dev_velocity, dev_norms,
                                                          dev_weight_out, dev_velocity_out, dev_rate);
    check(cudaGetLastError(), "kernel launch");

    check(cudaMemcpy(h_weight_out.data(), dev_weight_out, kLayers * kWidth * sizeof(float),
            cudaMemcpyDeviceToHost), "copy weight_out out");
    check(cudaMemcpy(h_velocity_out.data(), dev_velocity_out, kLayers * kWidth * sizeof(float),
            cudaMemcpyDeviceToHost), "copy velocity_out out");
    check(cudaMemcpy(hRate.data(), dev_rate, kLayers * sizeof(float), cudaMemcpyDeviceToHost), "copy rate out");
    if (!writeFile("data/weight_out.bin", h_weight_out.data(), kLayers * kWidth * sizeof(float))) {
        fprintf(stderr, "cannot write data/weight_out.bin\n");
        return 1;
    }
    if (!writeFile("data/velocity_out.bin", h_velocity_out.data(), kLayers * kWidth * sizeof(float))) {
        fprintf(stderr, "cannot write data/velocity_out.bin\n");
        return 1;
    }
    if (!writeFile("data/rate.bin", hRate.data(), kLayers * sizeof(float))) {
        fprintf(stderr, "cannot write data/rate.bin\n");
        return 1;
    }
    cudaFree(dev_weight);
    cudaFree(dev_grad);
    cudaFree(dev_velocity);
    cudaFree(dev_weight_out);
    cudaFree(dev_velocity_out);
    cudaFree(dev_rate);
    cudaFree(dev_norms);
    return 0;
}
