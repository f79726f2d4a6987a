#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define N 4000
#define DEGREE 9

static inline void check(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool readBinary(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(v.data(), sizeof(float), v.size(), f) == v.size();
    fclose(f);
    return ok;
}

bool writeBinary(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
    ok = fclose(f) == 0 && ok;
    return ok;
}

// With t P_l - P_(l-1) = d the recurrence reads P_(l+1) = t P_l + d * l / (l + 1); factors come from shared memory.
__global__ void legendre_factors(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ p,
                                 int n) {
    __shared__ float factor[DEGREE + 1], scale[DEGREE + 1];
    for (int l = threadIdx.x; l <= DEGREE; l += blockDim.x) {
        factor[l] = l / (l + 1.0f);
        scale[l] = weight[l];
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float t = x[i];
        float before = 0.0f, now = 1.0f;
        float* out = p + i;
        for (int l = 0; l <= DEGREE; ++l) {
            *out = scale[l] * now;
            out += n;
            const float d = fmaf(t, now, -before);
            before = now;
            now = fmaf(t, now, factor[l] * d);
        }
    }
}

int main() {
    const int weight_count = DEGREE + 1;
    const size_t p_count = (DEGREE + 1) * N;
    std::vector<float> h_x(N);
    std::vector<float> h_weight(weight_count);
    std::vector<float> h_p(p_count);
    if (!readBinary("data/x.bin", h_x) || !readBinary("data/weight.bin", h_weight)) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    float *d_x, *d_weight, *d_p;
    check(cudaMalloc(&d_x, N * sizeof(float)), "cudaMalloc x");
    check(cudaMalloc(&d_weight, weight_count * sizeof(float)), "cudaMalloc weight");
    check(cudaMalloc(&d_p, p_count * sizeof(float)), "cudaMalloc p");
    check(cudaMemcpy(d_x, h_x.data(), N * sizeof(float), cudaMemcpyHostToDevice), "memcpy x");
    check(cudaMemcpy(d_weight, h_weight.data(), weight_count * sizeof(float), cudaMemcpyHostToDevice), "copy weight");

    legendre_factors<<<min((N + 128 - 1) / 128, 4096), 128>>>(d_x, d_weight, d_p, N);
    check(cudaGetLastError(), "kernel");
    check(cudaMemcpy(h_p.data(), d_p, p_count * sizeof(float), cudaMemcpyDeviceToHost), "download");

    if (!writeBinary("data/p.bin", h_p)) {
        fprintf(stderr, "cannot write data/p.bin\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_p);
    return 0;
}
