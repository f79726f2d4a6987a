#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void check(cudaError_t e, const char* msg) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e));
        exit(1);
    }
}

static bool load_file(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool save_file(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

constexpr int RODS = 40;
constexpr int CELLS = 300;
constexpr int STEPS = 12;

// One block keeps a whole rod in shared memory for all time steps.
__global__ void heat_rod(const float* __restrict__ t, const float* __restrict__ alpha, float* __restrict__ out) {
    __shared__ float buf[2][CELLS];
    const size_t base = (size_t)blockIdx.x * CELLS;
    const float a = alpha[blockIdx.x];
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) buf[0][i] = t[base + i];
    __syncthreads();
    int cur = 0;
    for (int s = 0; s < STEPS; ++s) {
        for (int i = threadIdx.x; i < CELLS; i += blockDim.x) {
            float c = buf[cur][i];
            float l = i > 0 ? buf[cur][i - 1] : c;
            float r = i + 1 < CELLS ? buf[cur][i + 1] : c;
            buf[1 - cur][i] = fmaf(a, l - 2.0f * c + r, c);
        }
        __syncthreads();
        cur = 1 - cur;
    }
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) out[base + i] = buf[cur][i];
}

int main() {
    const int count = RODS * CELLS;
    std::vector<float> host_temperature(count);
    std::vector<float> host_alpha(RODS);
    std::vector<float> host_result(count);
    if (!load_file("data/temperature.bin", host_temperature.data(), count * sizeof(float)) ||
            !load_file("data/alpha.bin", host_alpha.data(), RODS * sizeof(float))) {
        fprintf(stderr, "input files are missing\n");
        return 1;
    }

    float* dev_temperature = nullptr;
    check(cudaMalloc(&dev_temperature, count * sizeof(float)), "malloc temperature");
    float* dev_alpha = nullptr;
    check(cudaMalloc(&dev_alpha, RODS * sizeof(float)), "malloc alpha");
    float* dev_result = nullptr;
    check(cudaMalloc(&dev_result, count * sizeof(float)), "malloc result");
    check(cudaMemcpy(dev_temperature, host_temperature.data(), count * sizeof(float), cudaMemcpyHostToDevice),
            "copy temperature");
    check(cudaMemcpy(dev_alpha, host_alpha.data(), RODS * sizeof(float), cudaMemcpyHostToDevice), "copy alpha");

    heat_rod<<<RODS, 256>>>(dev_temperature, dev_alpha, dev_result);
    check(cudaGetLastError(), "launch");

    check(cudaMemcpy(host_result.data(), dev_result, count * sizeof(float), cudaMemcpyDeviceToHost), "copy result");
    if (!save_file("data/result.bin", host_result.data(), count * sizeof(float))) return 1;
    cudaFree(dev_temperature);
    cudaFree(dev_alpha);
    cudaFree(dev_result);
    return 0;
}
