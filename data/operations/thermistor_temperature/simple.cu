#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int SENSORS = 12;
constexpr int SAMPLES = 1500;

static inline void check(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool read_exact(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) return false;
    const size_t got = fread(data, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool write_all(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void to_celsius(const int* adc, const float* coef, float* celsius, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int q = adc[i];
        if (q <= 0 || q >= 4095) {
            celsius[i] = -999.0f;
        } else {
            const float* k = coef + (i / SAMPLES) * 3;
            float ln = logf(10000.0f * q / (4095 - q));
            celsius[i] = 1.0f / (k[0] + k[1] * ln + k[2] * ln * ln * ln) - 273.15f;
        }
    }
}

int main() {
    const int n = SENSORS * SAMPLES;
    const int coef_count = SENSORS * 3;
    std::vector<int> host_adc(n);
    std::vector<float> host_coef(coef_count);
    std::vector<float> host_celsius(n);
    if (!read_exact("data/adc.bin", host_adc.data(), n * sizeof(int))) {
        fprintf(stderr, "cannot read data/adc.bin\n");
        return 1;
    }
    if (!read_exact("data/coef.bin", host_coef.data(), coef_count * sizeof(float))) {
        fprintf(stderr, "cannot read data/coef.bin\n");
        return 1;
    }

    int* dev_adc;
    float *dev_coef, *dev_celsius;
    check(cudaMalloc(&dev_adc, n * sizeof(int)), "cudaMalloc adc");
    check(cudaMalloc(&dev_coef, coef_count * sizeof(float)), "cudaMalloc coef");
    check(cudaMalloc(&dev_celsius, n * sizeof(float)), "cudaMalloc celsius");
    check(cudaMemcpy(dev_adc, host_adc.data(), n * sizeof(int), cudaMemcpyHostToDevice), "memcpy adc");
    check(cudaMemcpy(dev_coef, host_coef.data(), coef_count * sizeof(float), cudaMemcpyHostToDevice), "copy coef");

    int block = 256;
    int grid = (n + block - 1) / block;
    to_celsius<<<grid, block>>>(dev_adc, dev_coef, dev_celsius, n);
    check(cudaGetLastError(), "kernel");
    check(cudaMemcpy(host_celsius.data(), dev_celsius, n * sizeof(float), cudaMemcpyDeviceToHost), "copy back");

    if (!write_all("data/celsius.bin", host_celsius.data(), n * sizeof(float))) {
        fprintf(stderr, "cannot write data/celsius.bin\n");
        return 1;
    }
    cudaFree(dev_adc);
    cudaFree(dev_coef);
    cudaFree(dev_celsius);
    return 0;
}
