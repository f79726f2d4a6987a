#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

static const int ROWS = 50;
static const int COLS = 640;
static const int BLOCK = 256;

__global__ void location_step(const float* x, const float* centre, const float* scale, float* updated,
                              float* weight_sum) {
    __shared__ float num[BLOCK], den[BLOCK];
    int r = blockIdx.x, t = threadIdx.x;
    float m = centre[r];
    float bound = 1.345f * scale[r];
    float a = 0.0f, b = 0.0f;
    for (int c = t; c < COLS; c += BLOCK) {
        float v = x[(size_t)r * COLS + c];
        float d = fabsf(v - m);
        float w = d <= bound ? 1.0f : bound / d;
        a += w * v;
        b += w;
    }
    num[t] = a;
    den[t] = b;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s) {
            num[t] += num[t + s];
            den[t] += den[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        updated[r] = num[0] / den[0];
        weight_sum[r] = den[0];
    }
}

int main() {
    float* x;
    float* centre;
    float* scale;
    float* updated;
    float* weight_sum;
    cudaMallocManaged(&x, ROWS * COLS * sizeof(float));
    cudaMallocManaged(&centre, ROWS * sizeof(float));
    cudaMallocManaged(&scale, ROWS * sizeof(float));
    cudaMallocManaged(&updated, ROWS * sizeof(float));
    cudaMallocManaged(&weight_sum, ROWS * sizeof(float));

    std::ifstream x_stream("data/x.bin", std::ios::binary);
    if (!x_stream.read(reinterpret_cast<char*>(x), ROWS * COLS * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }
    std::ifstream centre_stream("data/centre.bin", std::ios::binary);
    if (!centre_stream.read(reinterpret_cast<char*>(centre), ROWS * sizeof(float))) {
        std::cerr << "cannot read data/centre.bin\n";
        return 1;
    }
    std::ifstream scale_stream("data/scale.bin", std::ios::binary);
    if (!scale_stream.read(reinterpret_cast<char*>(scale), ROWS * sizeof(float))) {
        std::cerr << "cannot read data/scale.bin\n";
        return 1;
    }

    location_step<<<ROWS, BLOCK>>>(x, centre, scale, updated, weight_sum);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream updated_stream("data/updated.bin", std::ios::binary);
    updated_stream.write(reinterpret_cast<char*>(updated), ROWS * sizeof(float));
    std::ofstream weight_sum_stream("data/weight_sum.bin", std::ios::binary);
    weight_sum_stream.write(reinterpret_cast<char*>(weight_sum), ROWS * sizeof(float));

    cudaFree(x);
    cudaFree(centre);
    cudaFree(scale);
    cudaFree(updated);
    cudaFree(weight_sum);
    return 0;
}
