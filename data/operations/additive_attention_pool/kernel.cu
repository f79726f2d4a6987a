#include <cstdio>
#include <cuda_runtime.h>

const int BATCH = 6;
const int STEPS = 30;
const int WIDTH = 40;

constexpr int THREADS = 256;
constexpr unsigned ALL = 0xffffffffu;

// Scores, softmax and weighted sum of one sequence in one block; a warp forms the score of a step.
__global__ void pool_sequence(const float* __restrict__ keys, const float* __restrict__ query,
                              const float* __restrict__ v, const int* __restrict__ lengths,
                              float* __restrict__ context, float* __restrict__ attention) {
    __shared__ float weight[STEPS];
    __shared__ float total;
    const int b = blockIdx.x, n = lengths[b];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float* k = keys + (size_t)b * STEPS * WIDTH;
    for (int t = warp; t < n; t += THREADS / 32) {
        float s = 0.0f;
        for (int j = lane; j < WIDTH; j += 32) s += v[j] * tanhf(query[b * WIDTH + j] + k[t * WIDTH + j]);
        for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(ALL, s, d);
        if (lane == 0) weight[t] = s;
    }
    __syncthreads();
    if (warp == 0) {
        float top = weight[0];
        for (int t = lane; t < n; t += 32) top = fmaxf(top, weight[t]);
        for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(ALL, top, d));
        float sum = 0.0f;
        for (int t = lane; t < n; t += 32) {
            const float e = expf(weight[t] - top);
            weight[t] = e;
            sum += e;
        }
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
        if (lane == 0) total = sum;
    }
    __syncthreads();
    const float scale = 1.0f / total;
    for (int t = threadIdx.x; t < STEPS; t += THREADS) {
        attention[b * STEPS + t] = t < n ? weight[t] * scale : 0.0f;
    }
    for (int j = threadIdx.x; j < WIDTH; j += THREADS) {
        float sum = 0.0f;
        for (int t = 0; t < n; ++t) sum = fmaf(weight[t], k[t * WIDTH + j], sum);
        context[b * WIDTH + j] = sum * scale;
    }
}

int main() {
    size_t count_keys = BATCH * STEPS * WIDTH;
    size_t n_query = BATCH * WIDTH;
    size_t n_attention = BATCH * STEPS;
    float* keys = nullptr;
    float* query = nullptr;
    float* v = nullptr;
    int* lengths = nullptr;
    float* context = nullptr;
    float* attention = nullptr;
    cudaMallocManaged(&keys, count_keys * sizeof(float));
    cudaMallocManaged(&query, n_query * sizeof(float));
    cudaMallocManaged(&v, WIDTH * sizeof(float));
    cudaMallocManaged(&lengths, BATCH * sizeof(int));
    cudaMallocManaged(&context, n_query * sizeof(float));
    cudaMallocManaged(&attention, n_attention * sizeof(float));

    FILE* file_keys = fopen("data/keys.bin", "rb");
    if (!file_keys || fread(keys, sizeof(float), count_keys, file_keys) != (size_t)(count_keys)) {
        fprintf(stderr, "failed to read data/keys.bin\n");
        return 1;
    }
    fclose(file_keys);
    FILE* file_query = fopen("data/query.bin", "rb");
    if (!file_query || fread(query, sizeof(float), n_query, file_query) != (size_t)(n_query)) {
        fprintf(stderr, "failed to read data/query.bin\n");
        return 1;
    }
    fclose(file_query);
    FILE* file_v = fopen("data/v.bin", "rb");
    if (!file_v || fread(v, sizeof(float), WIDTH, file_v) != (size_t)(WIDTH)) {
        fprintf(stderr, "failed to read data/v.bin\n");
        return 1;
    }
    fclose(file_v);
    FILE* file_lengths = fopen("data/lengths.bin", "rb");
    if (!file_lengths || fread(lengths, sizeof(int), BATCH, file_lengths) != (size_t)(BATCH)) {
        fprintf(stderr, "failed to read data/lengths.bin\n");
        return 1;
    }
    fclose(file_lengths);

    pool_sequence<<<BATCH, THREADS>>>(keys, query, v, lengths, context, attention);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        return 1;
    }

    FILE* out_context = fopen("data/context.bin", "wb");
    if (!out_context) return 1;
    fwrite(context, sizeof(float), n_query, out_context);
    fclose(out_context);
    FILE* out_attention = fopen("data/attention.bin", "wb");
    if (!out_attention) return 1;
    fwrite(attention, sizeof(float), n_attention, out_attention);
    fclose(out_attention);

    cudaFree(keys);
    cudaFree(query);
    cudaFree(v);
    cudaFree(lengths);
    cudaFree(context);
    cudaFree(attention);
    return 0;
}
