#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int NODES = 300;
constexpr int SLOTS = 12;
constexpr int HEADS = 4;
constexpr int WARPS = 4;

// One warp a vertex and head pair; slots beyond 32 are taken in further rounds.
__global__ void edgeSoftmaxWarp(const int* __restrict__ table, const float* __restrict__ receive,
                                const float* __restrict__ send, float* __restrict__ attention) {
    int pair = blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (pair >= NODES * HEADS) return;
    int v = pair / HEADS, h = pair % HEADS;
    float own = receive[pair];
    float score[(SLOTS + 31) / 32];
    float top = -1e30f;
    for (int k = lane, r = 0; k < SLOTS; k += 32, ++r) {
        int u = table[v * SLOTS + k];
        score[r] = -2e30f;
        if (u >= 0) {
            float s = own + send[u * HEADS + h];
            score[r] = fmaxf(s, 0.2f * s);
        }
        top = fmaxf(top, score[r]);
    }
    for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
    float sum = 0.0f;
    for (int k = lane, r = 0; k < SLOTS; k += 32, ++r) {
        score[r] = score[r] > -1e30f ? expf(score[r] - top) : 0.0f;
        sum += score[r];
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int k = lane, r = 0; k < SLOTS; k += 32, ++r) {
        attention[((size_t)v * SLOTS + k) * HEADS + h] = score[r] * factor;
    }
}

void run(const int* d_table, const float* d_receive, const float* d_send, float* d_attention) {
    int pairs = NODES * HEADS;
    edgeSoftmaxWarp<<<(pairs + WARPS - 1) / WARPS, 32 * WARPS>>>(d_table, d_receive, d_send, d_attention);
}

int main() {
    std::vector<int> table(NODES * SLOTS);
    std::vector<float> receive(NODES * HEADS);
    std::vector<float> send(NODES * HEADS);
    std::vector<float> attention(NODES * SLOTS * HEADS);
    FILE* in0 = fopen("data/table.bin", "rb");
    if (!in0 || fread(table.data(), sizeof(int), table.size(), in0) != table.size()) {
        fprintf(stderr, "cannot read data/table.bin\n");
        return 1;
    }
    fclose(in0);
    FILE* in1 = fopen("data/receive.bin", "rb");
    if (!in1 || fread(receive.data(), sizeof(float), receive.size(), in1) != receive.size()) {
        fprintf(stderr, "cannot read data/receive.bin\n");
        return 1;
    }
    fclose(in1);
    FILE* in2 = fopen("data/send.bin", "rb");
    if (!in2 || fread(send.data(), sizeof(float), send.size(), in2) != send.size()) {
        fprintf(stderr, "cannot read data/send.bin\n");
        return 1;
    }
    fclose(in2);

    int* d_table;
    float* d_receive;
    float* d_send;
    float* d_attention;
    cudaMalloc(&d_table, NODES * SLOTS * sizeof(int));
    cudaMemcpy(d_table, table.data(), NODES * SLOTS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_receive, NODES * HEADS * sizeof(float));
    cudaMemcpy(d_receive, receive.data(), NODES * HEADS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_send, NODES * HEADS * sizeof(float));
    cudaMemcpy(d_send, send.data(), NODES * HEADS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_attention, NODES * SLOTS * HEADS * sizeof(float));
    run(d_table, d_receive, d_send, d_attention);
    cudaMemcpy(attention.data(), d_attention, NODES * SLOTS * HEADS * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/attention.bin", "wb");
    fwrite(attention.data(), sizeof(float), attention.size(), out0);
    fclose(out0);

    cudaFree(d_table);
    cudaFree(d_receive);
    cudaFree(d_send);
    cudaFree(d_attention);
    return 0;
}
