#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kN = 2500;
constexpr int kDims = 8;
constexpr int kGroups = 20;

inline void cuda_ok(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool read_raw(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool write_raw(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

// One thread per number: neighbouring threads add neighbouring dimensions.
__global__ void accumulate(const float* __restrict__ x, const int* __restrict__ label, float* means, int* counts) {
    int stride = gridDim.x * blockDim.x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < kN * kDims; k += stride) {
        int i = k / kDims;
        int d = k - i * kDims;
        int g = label[i];
        if (g < 0) continue;
        atomicAdd(&means[g * kDims + d], x[k]);
        if (d == 0) atomicAdd(&counts[g], 1);
    }
}

__global__ void normalize(const int* __restrict__ counts, const float* __restrict__ old, float* means) {
    int k = blockIdx.x * kDims + threadIdx.x;
    int n = counts[blockIdx.x];
    means[k] = n > 0 ? means[k] / n : old[k];
}

int main() {
    const size_t n_x = (size_t)kN * kDims;
    const size_t old_count = (size_t)kGroups * kDims;
    std::vector<float> h_x(n_x);
    std::vector<int> h_label(kN);
    std::vector<float> h_old(old_count);
    std::vector<float> h_means(old_count);
    std::vector<int> h_counts(kGroups);
    if (!read_raw("data/x.bin", h_x.data(), n_x * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!read_raw("data/label.bin", h_label.data(), kN * sizeof(int))) {
        fprintf(stderr, "cannot read data/label.bin\n");
        return 1;
    }
    if (!read_raw("data/old.bin", h_old.data(), old_count * sizeof(float))) {
        fprintf(stderr, "cannot read data/old.bin\n");
        return 1;
    }

    float* x_d;
    float* old_d;
    float* means_d;
    int* label_d;
    int* counts_d;
    cuda_ok(cudaMalloc(&x_d, n_x * sizeof(float)), "allocate");
    cuda_ok(cudaMalloc(&label_d, kN * sizeof(int)), "allocate");
    cuda_ok(cudaMalloc(&old_d, old_count * sizeof(float)), "allocate");
    cuda_ok(cudaMalloc(&means_d, old_count * sizeof(float)), "allocate");
    cuda_ok(cudaMalloc(&counts_d, kGroups * sizeof(int)), "allocate");
    cuda_ok(cudaMemcpy(x_d, h_x.data(), n_x * sizeof(float), cudaMemcpyHostToDevice), "copy");
    cuda_ok(cudaMemcpy(label_d, h_label.data(), kN * sizeof(int), cudaMemcpyHostToDevice), "copy");
    cuda_ok(cudaMemcpy(old_d, h_old.data(), old_count * sizeof(float), cudaMemcpyHostToDevice), "copy");
    cuda_ok(cudaMemset(counts_d, 0, kGroups * sizeof(int)), "clear");
    cuda_ok(cudaMemset(means_d, 0, old_count * sizeof(float)), "clear");

    int wanted = (kN * kDims + 256 - 1) / 256;
    int blocks = wanted < 2048 ? wanted : 2048;
    accumulate<<<blocks, 256>>>(x_d, label_d, means_d, counts_d);
    normalize<<<kGroups, kDims>>>(counts_d, old_d, means_d);
    cuda_ok(cudaGetLastError(), "launch");
    cuda_ok(cudaMemcpy(h_means.data(), means_d, old_count * sizeof(float), cudaMemcpyDeviceToHost), "copy");
    cuda_ok(cudaMemcpy(h_counts.data(), counts_d, kGroups * sizeof(int), cudaMemcpyDeviceToHost), "copy");

    if (!write_raw("data/means.bin", h_means.data(), old_count * sizeof(float))) {
        fprintf(stderr, "cannot write data/means.bin\n");
        return 1;
    }
    if (!write_raw("data/counts.bin", h_counts.data(), kGroups * sizeof(int))) {
        fprintf(stderr, "cannot write data/counts.bin\n");
        return 1;
    }
    cudaFree(x_d);
    cudaFree(label_d);
    cudaFree(old_d);
    cudaFree(means_d);
    cudaFree(counts_d);
    return 0;
}
