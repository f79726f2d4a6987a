#include <cuda_runtime.h>
#include <fstream>
#include <iostream>

const int N = 20000;
const int TERMS = 8;

__constant__ float series[TERMS];

__global__ void chebyshev_const(const float* __restrict__ x, const float* __restrict__ interval,
                                float* __restrict__ value, int n) {
    const float lo = interval[0], hi = interval[1];
    const float scale = 2.0f / (hi - lo);
    const float middle = 0.5f * (lo + hi);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float t = (x[i] - middle) * scale;
        const float twice = t + t;
        float b1 = 0.0f, b2 = 0.0f;
#pragma unroll
        for (int k = TERMS - 1; k > 0; --k) {
            const float b = fmaf(twice, b1, series[k] - b2);
            b2 = b1;
            b1 = b;
        }
        value[i] = fmaf(t, b1, series[0] - b2);
    }
}

int main() {
    float *x = nullptr, *coef = nullptr, *interval = nullptr, *value = nullptr;
    cudaMallocManaged(&x, N * sizeof(float));
    cudaMallocManaged(&coef, TERMS * sizeof(float));
    cudaMallocManaged(&interval, 2 * sizeof(float));
    cudaMallocManaged(&value, N * sizeof(float));

    std::ifstream x_in("data/x.bin", std::ios::binary);
    if (!x_in.read(reinterpret_cast<char*>(x), N * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }
    std::ifstream coef_in("data/coef.bin", std::ios::binary);
    if (!coef_in.read(reinterpret_cast<char*>(coef), TERMS * sizeof(float))) {
        std::cerr << "cannot read data/coef.bin\n";
        return 1;
    }
    std::ifstream interval_in("data/interval.bin", std::ios::binary);
    if (!interval_in.read(reinterpret_cast<char*>(interval), 2 * sizeof(float))) {
        std::cerr << "cannot read data/interval.bin\n";
        return 1;
    }

    cudaMemcpyToSymbol(series, coef, TERMS * sizeof(float), 0, cudaMemcpyDeviceToDevice);
    chebyshev_const<<<1024, 256>>>(x, interval, value, N);
    cudaDeviceSynchronize();
    std::ofstream value_out("data/value.bin", std::ios::binary);
    value_out.write(reinterpret_cast<const char*>(value), N * sizeof(float));

    cudaFree(x);
    cudaFree(coef);
    cudaFree(interval);
    cudaFree(value);
    return 0;
}
