#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_bytes(const char* path, void* mem, size_t size) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(mem, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_bytes(const char* path, const void* mem, size_t size) {
    FILE* f = fopen(path, "wb");
    if (f == NULL || fwrite(mem, 1, size, f) != size) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

static const int N = 150;

static int divUp(int a, int b) { return (a + b - 1) / b; }

// exp(x / 0.1) is taken as a power of two.
__global__ void contrastive_warp(const float* __restrict__ similarity, const int* __restrict__ labels,
                                 float* __restrict__ loss) {
    const float to_log2 = 10.0f * 1.44269504f;
    const int lane = threadIdx.x % 32;
    const int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (i >= N) return;
    const float* row = similarity + (size_t)i * N;
    const int own = labels[i];
    float denom = 0.0f, positive = 0.0f, count = 0.0f;
    for (int a = lane; a < N; a += 32) {
        if (a == i) continue;
        const float s = row[a];
        denom += exp2f(s * to_log2);
        if (labels[a] == own) {
            positive += s;
            count += 1.0f;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        denom += __shfl_xor_sync(0xffffffffu, denom, d);
        positive += __shfl_xor_sync(0xffffffffu, positive, d);
        count += __shfl_xor_sync(0xffffffffu, count, d);
    }
    if (lane == 0) {
        loss[i] = 0.0f;
        if (count > 0.0f) loss[i] = logf(denom) - 10.0f * positive / count;
    }
}

int main() {
    const size_t bytes_similarity = N * N * sizeof(float);
    const size_t bytes_labels = N * sizeof(int);
    const size_t loss_bytes = N * sizeof(float);
    float* host_similarity = new float[N * N];
    int* host_labels = new int[N];
    float* host_loss = new float[N];
    read_bytes("data/similarity.bin", host_similarity, bytes_similarity);
    read_bytes("data/labels.bin", host_labels, bytes_labels);

    float *d_similarity, *d_loss;
    int* d_labels;
    cudaMalloc(&d_similarity, bytes_similarity);
    cudaMalloc(&d_labels, bytes_labels);
    cudaMalloc(&d_loss, loss_bytes);
    cudaMemcpy(d_similarity, host_similarity, bytes_similarity, cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, host_labels, bytes_labels, cudaMemcpyHostToDevice);

    contrastive_warp<<<divUp(N, 8), 256>>>(d_similarity, d_labels, d_loss);

    cudaMemcpy(host_loss, d_loss, loss_bytes, cudaMemcpyDeviceToHost);
    write_bytes("data/loss.bin", host_loss, loss_bytes);

    cudaFree(d_similarity);
    cudaFree(d_labels);
    cudaFree(d_loss);
    delete[] host_similarity;
    delete[] host_labels;
    delete[] host_loss;
    return 0;
}
