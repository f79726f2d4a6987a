#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cfloat>
#include <cuda_runtime.h>

constexpr int BATCH = 20;
constexpr int N = 50;

inline void check_cuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

template <typename T>
bool load_vector(const char* path, std::vector<T>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return n == v.size();
}

template <typename T>
bool save_vector(const char* path, const std::vector<T>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return n == v.size();
}

// Warps read the rows along their length; each warp keeps its own extremes until the end.
__global__ void gershgorin_warps(const float* __restrict__ a, float* __restrict__ bounds,
        int* __restrict__ dominant) {
    __shared__ float warpLow[8], warpHigh[8];
    __shared__ int warpRows[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* m = a + (size_t)blockIdx.x * N * N;
    float low = FLT_MAX, high = -FLT_MAX;
    int rows = 0;
    for (int i = warp; i < N; i += 8) {
        float sum = 0.0f;
        for (int j = lane; j < N; j += 32) sum += j == i ? 0.0f : fabsf(m[i * N + j]);
        for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        const float centre = m[i * N + i];
        low = fminf(low, centre - sum);
        high = fmaxf(high, centre + sum);
        rows += fabsf(centre) > sum;
    }
    if (lane == 0) {
        warpLow[warp] = low;
        warpHigh[warp] = high;
        warpRows[warp] = rows;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) {
            low = fminf(low, warpLow[w]);
            high = fmaxf(high, warpHigh[w]);
            rows += warpRows[w];
        }
        bounds[2 * blockIdx.x] = low;
        bounds[2 * blockIdx.x + 1] = high;
        dominant[blockIdx.x] = rows;
    }
}

int main() {
    const size_t a_elems = (size_t)BATCH * N * N;
    const size_t bounds_elems = (size_t)BATCH * 2;
    std::vector<float> h_a(a_elems);
    std::vector<float> h_bounds(bounds_elems);
    std::vector<int> h_dominant(BATCH);
    if (!load_vector("data/a.bin", h_a)) {
        fprintf(stderr, "reading failed\n");
        return 1;
    }

    float *dev_a = nullptr, *dev_bounds = nullptr;
    int *dev_dominant = nullptr;
    check_cuda(cudaMalloc(&dev_a, a_elems * sizeof(float)), "cudaMalloc a");
    check_cuda(cudaMalloc(&dev_bounds, bounds_elems * sizeof(float)), "cudaMalloc bounds");
    check_cuda(cudaMalloc(&dev_dominant, BATCH * sizeof(int)), "cudaMalloc dominant");
    check_cuda(cudaMemcpy(dev_a, h_a.data(), a_elems * sizeof(float), cudaMemcpyHostToDevice), "copy a");

    gershgorin_warps<<<BATCH, 256>>>(dev_a, dev_bounds, dev_dominant);
    check_cuda(cudaGetLastError(), "launch");
    check_cuda(cudaMemcpy(h_bounds.data(), dev_bounds, bounds_elems * sizeof(float), cudaMemcpyDeviceToHost),
            "copy bounds");
    check_cuda(cudaMemcpy(h_dominant.data(), dev_dominant, BATCH * sizeof(int), cudaMemcpyDeviceToHost),
            "copy dominant");

    if (!save_vector("data/bounds.bin", h_bounds) || !save_vector("data/dominant.bin", h_dominant)) return 1;
    cudaFree(dev_a);
    cudaFree(dev_bounds);
    cudaFree(dev_dominant);
    return 0;
}
