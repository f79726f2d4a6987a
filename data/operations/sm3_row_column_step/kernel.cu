#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static inline void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

static bool read_all(const char* path, void* ptr, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool write_all(const char* path, const void* ptr, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static const int ROWS = 90;
static const int COLS = 110;
static const int NUM_ELEMENTS = ROWS * COLS;

// One pass over 32 x 32 tiles. nu is never negative, so its maximum can be taken on the bits as an int.
__global__ void sm3_tiles(const float* __restrict__ weight, const float* __restrict__ grad,
                          const float* __restrict__ row_acc, const float* __restrict__ col_acc,
                          float* __restrict__ weight_out, int* row_out, int* col_out) {
    __shared__ int col_top[32];
    const int j = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.y == 0) col_top[threadIdx.x] = 0;
    __syncthreads();
    float mine = 0.0f;
    for (int r = threadIdx.y; r < 32; r += 8) {
        const int i = blockIdx.y * 32 + r;
        if (i >= ROWS) break;
        float nu = 0.0f;
        if (j < COLS) {
            const size_t k = (size_t)i * COLS + j;
            const float g = grad[k];
            nu = fminf(row_acc[i], col_acc[j]) + g * g;
            weight_out[k] = weight[k] - (nu > 0.0f ? 0.1f * g / sqrtf(nu) : 0.0f);
        }
        mine = fmaxf(mine, nu);
        for (int d = 16; d > 0; d >>= 1) nu = fmaxf(nu, __shfl_xor_sync(0xffffffffu, nu, d));
        if (threadIdx.x == 0) atomicMax(&row_out[i], __float_as_int(nu));
    }
    atomicMax(&col_top[threadIdx.x], __float_as_int(mine));
    __syncthreads();
    if (threadIdx.y == 0 && j < COLS) atomicMax(&col_out[j], col_top[threadIdx.x]);
}

int main() {
    std::vector<float> hWeight(NUM_ELEMENTS);
    std::vector<float> hGrad(NUM_ELEMENTS);
    std::vector<float> h_row_acc(ROWS);
    std::vector<float> h_col_acc(COLS);
    std::vector<float> h_weight_out(NUM_ELEMENTS);
    std::vector<float> h_row_out(ROWS);
    std::vector<float> h_col_out(COLS);
    if (!read_all("data/weight.bin", hWeight.data(), NUM_ELEMENTS * sizeof(float)) ||
        !read_all("data/grad.bin", hGrad.data(), NUM_ELEMENTS * sizeof(float)) ||
        !read_all("data/row_acc.bin", h_row_acc.data(), ROWS * sizeof(float)) ||
        !read_all("data/col_acc.bin", h_col_acc.data(), COLS * sizeof(float))) {
        fprintf(stderr, "failed to read the data files\n");
        return 1;
    }

    float *d_weight, *d_grad, *d_row_acc, *d_col_acc, *d_weight_out, *d_row_out, *d_col_out;
    checkCuda(cudaMalloc(&d_weight, NUM_ELEMENTS * sizeof(float)), "malloc weight");
    checkCuda(cudaMalloc(&d_grad, NUM_ELEMENTS * sizeof(float)), "malloc grad");
    checkCuda(cudaMalloc(&d_row_acc, ROWS * sizeof(float)), "malloc row_acc");
    checkCuda(cudaMalloc(&d_col_acc, COLS * sizeof(float)), "malloc col_acc");
    checkCuda(cudaMalloc(&d_weight_out, NUM_ELEMENTS * sizeof(float)), "malloc weight_out");
    checkCuda(cudaMalloc(&d_row_out, ROWS * sizeof(float)), "malloc row_out");
    checkCuda(cudaMalloc(&d_col_out, COLS * sizeof(float)), "malloc col_out");
    checkCuda(cudaMemcpy(d_weight, hWeight.data(), NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice),
            "copy weight in");
    checkCuda(cudaMemcpy(d_grad, hGrad.data(), NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice), "copy grad in");
    checkCuda(cudaMemcpy(d_row_acc, h_row_acc.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice),
            "copy row_acc in");
    checkCuda(cudaMemcpy(d_col_acc, h_col_acc.data(), COLS * sizeof(float), cudaMemcpyHostToDevice),
            "copy col_acc in");
    checkCuda(cudaMemset(d_row_out, 0, ROWS * sizeof(float)), "memset");
    checkCuda(cudaMemset(d_col_out, 0, COLS * sizeof(float)), "memset");

    sm3_tiles<<<dim3((COLS + 31) / 32, (ROWS + 31) / 32), dim3(32, 8)>>>(d_weight, d_grad, d_row_acc,
            d_col_acc, d_weight_out,
                                                                     (int*)d_row_out, (int*)d_col_out);
    checkCuda(cudaGetLastError(), "kernel");

    checkCuda(cudaMemcpy(h_weight_out.data(), d_weight_out, NUM_ELEMENTS * sizeof(float),
            cudaMemcpyDeviceToHost), "copy weight_out out");
    checkCuda(cudaMemcpy(h_row_out.data(), d_row_out, ROWS * sizeof(float), cudaMemcpyDeviceToHost),
            "copy row_out out");
    checkCuda(cudaMemcpy(h_col_out.data(), d_col_out, COLS * sizeof(float), cudaMemcpyDeviceToHost),
            "copy col_out out");
    if (!write_all("data/weight_out.bin", h_weight_out.data(), NUM_ELEMENTS * sizeof(float))) {
        fprintf(stderr, "cannot write data/weight_out.bin\n");
        return 1;
    }
    if (!write_all("data/row_out.bin", h_row_out.data(), ROWS * sizeof(float))) {
        fprintf(stderr, "cannot write data/row_out.bin\n");
        return 1;
    }
    if (!write_all("data/col_out.bin", h_col_out.data(), COLS * sizeof(float))) {
        fprintf(stderr, "cannot write data/col_out.bin\n");
        return 1;
    }
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_row_acc);
    cudaFree(d_col_acc);
    cudaFree(d_weight_out);
    cudaFree(d_row_out);
    cudaFree(d_col_out);
    return 0;
}
