#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kSensors = 12;
constexpr int kSamples = 1500;

// A sensor has only 4096 different readings: where it has many samples, a table of them is made first.
__global__ void sensor_table(const float* __restrict__ coef, float* __restrict__ table) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    const float a = coef[blockIdx.y * 3], b = coef[blockIdx.y * 3 + 1], c = coef[blockIdx.y * 3 + 2];
    float t = -999.0f;
    if (q > 0 && q < 4095) {
        const float ln = logf(10000.0f * q / (4095 - q));
        t = 1.0f / fmaf(ln, fmaf(c * ln, ln, b), a) - 273.15f;
    }
    table[blockIdx.y * 4096 + q] = t;
}

__global__ void look_up(const int* __restrict__ adc, const float* __restrict__ table, float* __restrict__ celsius) {
    const float* mine = table + (size_t)blockIdx.y * 4096;
    const size_t base = (size_t)blockIdx.y * kSamples;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kSamples; i += gridDim.x * blockDim.x) {
        celsius[base + i] = mine[adc[base + i]];
    }
}

static void load(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

void launch_thermistor(const int* d_adc, const float* d_coef, float* d_celsius, float* d_table) {
    sensor_table<<<dim3(16, kSensors), 256>>>(d_coef, d_table);
    look_up<<<dim3(4, kSensors), 256>>>(d_adc, d_table, d_celsius);
    cudaDeviceSynchronize();
}

int main() {
    const int numel = kSensors * kSamples;
    const int coef_count = kSensors * 3;
    const int n_table = kSensors * 4096;
    std::vector<int> h_adc(numel);
    std::vector<float> h_coef(coef_count);
    std::vector<float> h_celsius(numel);
    load("data/adc.bin", h_adc.data(), numel * sizeof(int));
    load("data/coef.bin", h_coef.data(), coef_count * sizeof(float));

    int* d_adc;
    float *d_coef, *d_celsius, *d_table;
    cudaMalloc(&d_adc, numel * sizeof(int));
    cudaMalloc(&d_coef, coef_count * sizeof(float));
    cudaMalloc(&d_celsius, numel * sizeof(float));
    cudaMalloc(&d_table, n_table * sizeof(float));
    cudaMemcpy(d_adc, h_adc.data(), numel * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coef, h_coef.data(), coef_count * sizeof(float), cudaMemcpyHostToDevice);

    launch_thermistor(d_adc, d_coef, d_celsius, d_table);
    cudaMemcpy(h_celsius.data(), d_celsius, numel * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/celsius.bin", "wb");
    fwrite(h_celsius.data(), sizeof(float), h_celsius.size(), out);
    fclose(out);
    cudaFree(d_table);
    cudaFree(d_celsius);
    cudaFree(d_coef);
    cudaFree(d_adc);
    return 0;
}
