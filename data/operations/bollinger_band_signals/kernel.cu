#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int ASSETS = 60;
const int DAYS = 300;
const int WINDOW = 20;
const int OUT_DAYS = DAYS - WINDOW + 1;
const int BLOCK = 128;

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

bool readFile(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool writeFile(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(src, 1, bytes, f);
    fclose(f);
    return put == bytes;
}

// Prices of a stretch are staged in whole eighths; sums of values and squares are then exact integers.
__global__ void bollinger_stretch(const float* __restrict__ prices, float* __restrict__ percent_b,
                                  int* __restrict__ signal) {
    __shared__ int eighths[BLOCK + WINDOW - 1];
    int first = blockIdx.x * BLOCK;
    const float* row = prices + (size_t)blockIdx.y * DAYS;
    for (int k = threadIdx.x; k < BLOCK + WINDOW - 1; k += BLOCK)
        if (first + k < DAYS) eighths[k] = (int)(row[first + k] * 8.0f);
    __syncthreads();

    int day = first + threadIdx.x;
    if (day >= OUT_DAYS) return;
    const int* p = eighths + threadIdx.x;
    int base = p[WINDOW - 1];
    int sum = 0, squares = 0;
    for (int k = 0; k < WINDOW - 1; ++k) {
        int d = p[k] - base;
        sum += d;
        squares += d * d;
    }
    // WINDOW^2 times the variance; zero exactly when all prices agree.
    int spread = WINDOW * squares - sum * sum;
    float b = 0.5f;
    if (spread > 0) b = 0.5f - (float)sum / (4.0f * sqrtf((float)spread));
    size_t at = (size_t)blockIdx.y * OUT_DAYS + day;
    percent_b[at] = b;
    signal[at] = (b > 1.0f) - (b < 0.0f);
}

int main() {
    std::vector<float> h_prices(ASSETS * DAYS);
    std::vector<float> h_percent_b(ASSETS * (DAYS - 19));
    std::vector<int> h_signal(ASSETS * (DAYS - 19));
    if (!readFile("data/prices.bin", h_prices.data(), ASSETS * DAYS * sizeof(float))) {
        fprintf(stderr, "cannot read data/prices.bin\n");
        return 1;
    }

    float* d_prices = nullptr;
    float* d_percent_b = nullptr;
    int* d_signal = nullptr;
    check(cudaMalloc(&d_prices, ASSETS * DAYS * sizeof(float)), "malloc prices");
    check(cudaMalloc(&d_percent_b, (ASSETS * (DAYS - 19)) * sizeof(float)), "allocate percent_b");
    check(cudaMalloc(&d_signal, (ASSETS * (DAYS - 19)) * sizeof(int)), "allocate signal");
    check(cudaMemcpy(d_prices, h_prices.data(), ASSETS * DAYS * sizeof(float), cudaMemcpyHostToDevice),
          "copy prices");

    dim3 grid((OUT_DAYS + BLOCK - 1) / BLOCK, ASSETS);
    bollinger_stretch<<<grid, BLOCK>>>(d_prices, d_percent_b, d_signal);
    check(cudaGetLastError(), "kernel launch");

    check(cudaMemcpy(h_percent_b.data(), d_percent_b, (ASSETS * (DAYS - 19)) * sizeof(float),
          cudaMemcpyDeviceToHost), "copy percent_b");
    check(cudaMemcpy(h_signal.data(), d_signal, (ASSETS * (DAYS - 19)) * sizeof(int), cudaMemcpyDeviceToHost),
          "copy signal");
    if (!writeFile("data/percent_b.bin", h_percent_b.data(), (ASSETS * (DAYS - 19)) * sizeof(float))) return 1;
    if (!writeFile("data/signal.bin", h_signal.data(), (ASSETS * (DAYS - 19)) * sizeof(int))) return 1;

    cudaFree(d_prices);
    cudaFree(d_percent_b);
    cudaFree(d_signal);
    return 0;
}
