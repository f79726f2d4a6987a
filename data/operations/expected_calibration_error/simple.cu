#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int N = 15000;
static const int BINS = 10;

static void checkCuda(cudaError_t status, const char* where) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s failed (%s)\n", where, cudaGetErrorString(status));
        exit(1);
    }
}

static bool read_all(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool write_all(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void fill_bins(const float* confidence, const unsigned char* correct, const float* upper,
                          float* gap, int* count, int n) {
    __shared__ float diff[BINS];
    __shared__ int seen[BINS];
    if (threadIdx.x < BINS) {
        diff[threadIdx.x] = 0.0f;
        seen[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = 0;
        while (confidence[i] >= upper[b]) b++;
        atomicAdd(&diff[b], confidence[i] - correct[i]);
        atomicAdd(&seen[b], 1);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        atomicAdd(&gap[threadIdx.x], diff[threadIdx.x]);
        atomicAdd(&count[threadIdx.x], seen[threadIdx.x]);
    }
}

// count * |mean confidence - accuracy| is the absolute value of the summed differences.
__global__ void finish_ece(const float* gap, float* ece, int n) {
    float sum = 0.0f;
    for (int b = 0; b < BINS; b++) sum += fabsf(gap[b]);
    ece[0] = sum / n;
}

int main() {
    std::vector<float> hConfidence(N);
    std::vector<unsigned char> hCorrect(N);
    std::vector<float> hUpper(BINS);
    std::vector<float> hEce(1);
    std::vector<int> hCount(BINS);
    if (!read_all("data/confidence.bin", hConfidence.data(), N * sizeof(float)) ||
        !read_all("data/correct.bin", hCorrect.data(), N * sizeof(unsigned char)) ||
        !read_all("data/upper.bin", hUpper.data(), BINS * sizeof(float))) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    float *d_confidence, *d_upper, *d_ece, *d_gap;
    unsigned char* d_correct;
    int* d_count;
    checkCuda(cudaMalloc(&d_confidence, N * sizeof(float)), "allocating confidence");
    checkCuda(cudaMalloc(&d_correct, N * sizeof(unsigned char)), "allocating correct");
    checkCuda(cudaMalloc(&d_upper, BINS * sizeof(float)), "allocating upper");
    checkCuda(cudaMalloc(&d_ece, sizeof(float)), "allocating ece");
    checkCuda(cudaMalloc(&d_count, BINS * sizeof(int)), "allocating count");
    checkCuda(cudaMalloc(&d_gap, BINS * sizeof(float)), "allocating gap");
    checkCuda(cudaMemcpy(d_confidence, hConfidence.data(), N * sizeof(float), cudaMemcpyHostToDevice),
            "upload confidence");
    checkCuda(cudaMemcpy(d_correct, hCorrect.data(), N * sizeof(unsigned char), cudaMemcpyHostToDevice),
            "upload correct");
    checkCuda(cudaMemcpy(d_upper, hUpper.data(), BINS * sizeof(float), cudaMemcpyHostToDevice), "upload upper");
    checkCuda(cudaMemset(d_gap, 0, BINS * sizeof(float)), "memset");
    checkCuda(cudaMemset(d_count, 0, BINS * sizeof(int)), "memset");

    fill_bins<<<512, 256>>>(d_confidence, d_correct, d_upper, d_gap, d_count, N);
    finish_ece<<<1, 1>>>(d_gap, d_ece, N);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaDeviceSynchronize(), "kernel execution");

    checkCuda(cudaMemcpy(hEce.data(), d_ece, sizeof(float), cudaMemcpyDeviceToHost), "memcpy ece");
    checkCuda(cudaMemcpy(hCount.data(), d_count, BINS * sizeof(int), cudaMemcpyDeviceToHost), "memcpy count");
    if (!write_all("data/ece.bin", hEce.data(), sizeof(float))) {
        fprintf(stderr, "cannot write data/ece.bin\n");
        return 1;
    }
    if (!write_all("data/count.bin", hCount.data(), BINS * sizeof(int))) {
        fprintf(stderr, "cannot write data/count.bin\n");
        return 1;
    }
    cudaFree(d_confidence);
    cudaFree(d_correct);
    cudaFree(d_upper);
    cudaFree(d_ece);
    cudaFree(d_count);
    cudaFree(d_gap);
    return 0;
}
