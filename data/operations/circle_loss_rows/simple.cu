#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void check(cudaError_t status, const char* where) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
        std::exit(1);
    }
}

bool read_all(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool write_all(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

const int kAnchors = 120;
const int kGallery = 300;
const int kTotal = kAnchors * kGallery;

__device__ float logit(float s, unsigned char positive) {
    if (positive) return -32.0f * fmaxf(0.0f, 1.25f - s) * (s - 0.75f);
    return 32.0f * fmaxf(0.0f, s + 0.25f) * (s - 0.25f);
}

__global__ void circle_loss(const float* similarity, const unsigned char* positive, float* loss) {
    __shared__ float value[2][128];
    int t = threadIdx.x;
    const float* s = similarity + (size_t)blockIdx.x * kGallery;
    const unsigned char* pos = positive + (size_t)blockIdx.x * kGallery;

    float top[2] = {-1e30f, -1e30f};
    for (int k = t; k < kGallery; k += 128) {
        int kind = pos[k] ? 1 : 0;
        top[kind] = fmaxf(top[kind], logit(s[k], pos[k]));
    }
    value[0][t] = top[0];
    value[1][t] = top[1];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) {
            value[0][t] = fmaxf(value[0][t], value[0][t + d]);
            value[1][t] = fmaxf(value[1][t], value[1][t + d]);
        }
        __syncthreads();
    }
    top[0] = value[0][0];
    top[1] = value[1][0];
    __syncthreads();

    float sum[2] = {0.0f, 0.0f};
    for (int k = t; k < kGallery; k += 128) {
        int kind = pos[k] ? 1 : 0;
        sum[kind] += expf(logit(s[k], pos[k]) - top[kind]);
    }
    value[0][t] = sum[0];
    value[1][t] = sum[1];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) {
            value[0][t] += value[0][t + d];
            value[1][t] += value[1][t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        float z = top[0] + logf(value[0][0]) + top[1] + logf(value[1][0]);
        loss[blockIdx.x] = top[1] == -1e30f ? 0.0f : fmaxf(z, 0.0f) + log1pf(expf(-fabsf(z)));
    }
}

int main() {
    std::vector<float> hSimilarity(kTotal), hLoss(kAnchors);
    std::vector<unsigned char> hPositive(kTotal);
    if (!read_all("data/similarity.bin", hSimilarity.data(), hSimilarity.size() * sizeof(float)) ||
        !read_all("data/positive.bin", hPositive.data(), hPositive.size() * sizeof(unsigned char))) {
        fprintf(stderr, "failed to read the data files\n");
        return 1;
    }

    float* d_similarity = nullptr;
    unsigned char* d_positive = nullptr;
    float* d_loss = nullptr;
    check(cudaMalloc(&d_similarity, kTotal * sizeof(float)), "cudaMalloc similarity");
    check(cudaMalloc(&d_positive, kTotal * sizeof(unsigned char)), "cudaMalloc positive");
    check(cudaMalloc(&d_loss, kAnchors * sizeof(float)), "cudaMalloc loss");
    check(cudaMemcpy(d_similarity, hSimilarity.data(), hSimilarity.size() * sizeof(float),
            cudaMemcpyHostToDevice), "memcpy similarity");
    check(cudaMemcpy(d_positive, hPositive.data(), hPositive.size() * sizeof(unsigned char),
            cudaMemcpyHostToDevice), "memcpy positive");

    circle_loss<<<kAnchors, 128>>>(d_similarity, d_positive, d_loss);
    check(cudaGetLastError(), "kernel launch");
    check(cudaDeviceSynchronize(), "kernel execution");

    check(cudaMemcpy(hLoss.data(), d_loss, hLoss.size() * sizeof(float), cudaMemcpyDeviceToHost), "download loss");
    if (!write_all("data/loss.bin", hLoss.data(), hLoss.size() * sizeof(float))) {
        fprintf(stderr, "cannot write data/loss.bin\n");
        return 1;
    }
    cudaFree(d_similarity);
    cudaFree(d_positive);
    cudaFree(d_loss);
    return 0;
}
