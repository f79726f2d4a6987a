#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

constexpr int GROUPS = 30;
constexpr int POINTS = 500;
constexpr int TERMS = 5;

// One block per group: every point is read once and its power climbs from one exponent to the next.
__global__ void vandermonde_once(const float* __restrict__ x, const float* __restrict__ w,
                                 const int* __restrict__ exponent, float* __restrict__ moments) {
    __shared__ float shared[8][TERMS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t base = (size_t)blockIdx.x * POINTS;
    float sum[TERMS];
    int climb[TERMS];
    for (int k = 0; k < TERMS; ++k) {
        sum[k] = 0.0f;
        climb[k] = exponent[k] - (k > 0 ? exponent[k - 1] : 0);
    }
    for (int p = threadIdx.x; p < POINTS; p += 256) {
        const float point = x[base + p];
        float term = w[base + p];
        for (int k = 0; k < TERMS; ++k) {
            for (int e = 0; e < climb[k]; ++e) term *= point;
            sum[k] += term;
        }
    }
    for (int k = 0; k < TERMS; ++k) {
        float v = sum[k];
        for (int s = 16; s > 0; s /= 2) v += __shfl_down_sync(0xffffffffu, v, s);
        if (lane == 0) shared[warp][k] = v;
    }
    __syncthreads();
    if (threadIdx.x < TERMS) {
        float total = 0.0f;
        for (int i = 0; i < 8; ++i) total += shared[i][threadIdx.x];
        moments[blockIdx.x * TERMS + threadIdx.x] = total;
    }
}

static bool load_into(const char* path, void* dst, size_t bytes) {
    std::ifstream f(path, std::ios::binary);
    return bool(f.read(static_cast<char*>(dst), bytes));
}

int main() {
    const size_t x_elems = (size_t)GROUPS * POINTS;
    const size_t moments_elems = (size_t)GROUPS * TERMS;
    float *x, *w, *moments;
    int *exponent;
    cudaMallocManaged(&x, x_elems * sizeof(float));
    cudaMallocManaged(&w, x_elems * sizeof(float));
    cudaMallocManaged(&exponent, TERMS * sizeof(int));
    cudaMallocManaged(&moments, moments_elems * sizeof(float));

    if (!load_into("data/x.bin", x, x_elems * sizeof(float)) ||
        !load_into("data/w.bin", w, x_elems * sizeof(float)) ||
        !load_into("data/exponent.bin", exponent, TERMS * sizeof(int))) {
        std::cerr << "missing or short input\n";
        return 1;
    }

    vandermonde_once<<<GROUPS, 256>>>(x, w, exponent, moments);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::ofstream out_moments("data/moments.bin", std::ios::binary);
    out_moments.write((const char*)moments, moments_elems * sizeof(float));

    cudaFree(x);
    cudaFree(w);
    cudaFree(exponent);
    cudaFree(moments);
    return 0;
}
