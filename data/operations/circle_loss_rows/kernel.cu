#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void read_data(const char* name, void* dst, size_t bytes) {
    FILE* f = fopen(name, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(name);
        exit(1);
    }
    fclose(f);
}

const int ANCHORS = 120;
const int GALLERY = 300;
const int NUM_ELEMENTS = ANCHORS * GALLERY;

struct LogSum {
    float top, sum;
};

__device__ LogSum join(LogSum a, LogSum b) {
    const float m = fmaxf(a.top, b.top);
    return {m, a.sum * expf(a.top - m) + b.sum * expf(b.top - m)};
}

__device__ LogSum warp_join(LogSum a) {
    for (int d = 16; d > 0; d >>= 1) {
        LogSum b;
        b.top = __shfl_xor_sync(0xffffffffu, a.top, d);
        b.sum = __shfl_xor_sync(0xffffffffu, a.sum, d);
        a = join(a, b);
    }
    return a;
}

// One warp an anchor; both log-sum-exps are carried along in a single pass over the row.
__global__ void circle_loss_online(const float* __restrict__ similarity, const unsigned char* __restrict__ positive,
                                   float* __restrict__ loss) {
    const int i = blockIdx.x * 4 + threadIdx.x / 32;
    if (i >= ANCHORS) return;
    LogSum pos = {-1e30f, 0.0f}, neg = {-1e30f, 0.0f};
    for (int k = threadIdx.x % 32; k < GALLERY; k += 32) {
        const float s = similarity[(size_t)i * GALLERY + k];
        if (positive[(size_t)i * GALLERY + k]) {
            pos = join(pos, {-32.0f * fmaxf(0.0f, 1.25f - s) * (s - 0.75f), 1.0f});
        } else {
            neg = join(neg, {32.0f * fmaxf(0.0f, s + 0.25f) * (s - 0.25f), 1.0f});
        }
    }
    pos = warp_join(pos);
    neg = warp_join(neg);
    if (threadIdx.x % 32 == 0) {
        float value = 0.0f;
        if (pos.sum > 0.0f) {
            const float z = pos.top + neg.top + logf(pos.sum) + logf(neg.sum);
            value = z > 0.0f ? z + log1pf(expf(-z)) : log1pf(expf(z));
        }
        loss[i] = value;
    }
}

void run_on_device(const float* d_similarity, const unsigned char* d_positive, float* d_loss) {
    circle_loss_online<<<(ANCHORS + 3) / 4, 128>>>(d_similarity, d_positive, d_loss);
}

int main() {
    std::vector<float> host_similarity(NUM_ELEMENTS);
    std::vector<unsigned char> host_positive(NUM_ELEMENTS);
    std::vector<float> host_loss(ANCHORS);
    read_data("data/similarity.bin", host_similarity.data(), NUM_ELEMENTS * sizeof(float));
    read_data("data/positive.bin", host_positive.data(), NUM_ELEMENTS * sizeof(unsigned char));

    float *d_similarity, *d_loss;
    unsigned char* d_positive;
    cudaMalloc(&d_similarity, NUM_ELEMENTS * sizeof(float));
    cudaMalloc(&d_positive, NUM_ELEMENTS * sizeof(unsigned char));
    cudaMalloc(&d_loss, ANCHORS * sizeof(float));
    cudaMemcpy(d_similarity, host_similarity.data(), NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_positive, host_positive.data(), NUM_ELEMENTS * sizeof(unsigned char), cudaMemcpyHostToDevice);

    run_on_device(d_similarity, d_positive, d_loss);
    cudaDeviceSynchronize();

    cudaMemcpy(host_loss.data(), d_loss, ANCHORS * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* loss_out = fopen("data/loss.bin", "wb");
    fwrite(host_loss.data(), sizeof(float), host_loss.size(), loss_out);
    fclose(loss_out);

    cudaFree(d_similarity);
    cudaFree(d_positive);
    cudaFree(d_loss);
    return 0;
}
