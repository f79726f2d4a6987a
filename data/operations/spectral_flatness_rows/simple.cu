#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, void* buffer, size_t bytes) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(buffer, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void save_array(const std::string& path, const void* buffer, size_t bytes) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(buffer, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
constexpr int FRAMES = 120;
constexpr int BINS = 128;

const int BLOCK = 256;

__global__ void flatness_kernel(const float* power, float* flatness) {
    __shared__ float logs[BLOCK];
    __shared__ float sums[BLOCK];
    int tid = threadIdx.x;
    float logSum = 0.0f, sum = 0.0f;
    for (int b = tid; b < BINS; b += BLOCK) {
        float p = power[blockIdx.x * BINS + b] + 1e-10f;
        logSum += log10f(p);
        sum += p;
    }
    logs[tid] = logSum;
    sums[tid] = sum;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
        if (tid < stride) {
            logs[tid] += logs[tid + stride];
            sums[tid] += sums[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        float db = 10.0f * (logs[0] / BINS - log10f(sums[0] / BINS));
        flatness[blockIdx.x] = fmaxf(db, -60.0f);
    }
}

int main() {
    float* power = new float[FRAMES * BINS];
    float* flatness = new float[FRAMES];
    load_array("data/power.bin", power, FRAMES * BINS * sizeof(float));

    float* d_power;
    cudaMalloc(&d_power, FRAMES * BINS * sizeof(float));
    float* d_flatness;
    cudaMalloc(&d_flatness, FRAMES * sizeof(float));
    cudaMemcpy(d_power, power, FRAMES * BINS * sizeof(float), cudaMemcpyHostToDevice);

    flatness_kernel<<<FRAMES, BLOCK>>>(d_power, d_flatness);

    cudaMemcpy(flatness, d_flatness, FRAMES * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/flatness.bin", flatness, FRAMES * sizeof(float));

    cudaFree(d_power);
    cudaFree(d_flatness);
    delete[] power;
    delete[] flatness;
    return 0;
}
