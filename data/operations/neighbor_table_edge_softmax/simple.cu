#include <cuda_runtime.h>
#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int NODES = 300;
constexpr int SLOTS = 12;
constexpr int HEADS = 4;

inline void verify(cudaError_t code, const char* where) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(code));
        exit(1);
    }
}

template <typename T>
bool read_all(const char* path, std::vector<T>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return got == v.size();
}

template <typename T>
bool write_all(const char* path, const std::vector<T>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return put == v.size();
}

__device__ float edge_score(float s) {
    return s > 0.0f ? s : 0.2f * s;
}

__global__ void edge_softmax(const int* table, const float* receive, const float* send, float* attention) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NODES * HEADS) return;
    int v = i / HEADS, h = i % HEADS;
    const int* slot = table + v * SLOTS;
    float* out = attention + (size_t)v * SLOTS * HEADS + h;
    float own = receive[i];
    float top = -FLT_MAX, sum = 0.0f;
    for (int k = 0; k < SLOTS; ++k) {
        if (slot[k] >= 0) top = fmaxf(top, edge_score(own + send[slot[k] * HEADS + h]));
    }
    for (int k = 0; k < SLOTS; ++k) {
        float e = 0.0f;
        if (slot[k] >= 0) e = expf(edge_score(own + send[slot[k] * HEADS + h]) - top);
        out[k * HEADS] = e;
        sum += e;
    }
    if (sum > 0.0f) {
        for (int k = 0; k < SLOTS; ++k) out[k * HEADS] /= sum;
    }
}

int main() {
    std::vector<int> h_table(NODES * SLOTS);
    std::vector<float> h_receive(NODES * HEADS);
    std::vector<float> h_send(NODES * HEADS);
    std::vector<float> h_attention(NODES * SLOTS * HEADS);
    if (!read_all("data/table.bin", h_table) ||
        !read_all("data/receive.bin", h_receive) ||
        !read_all("data/send.bin", h_send)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    int* d_table = nullptr;
    float* d_receive = nullptr;
    float* d_send = nullptr;
    float* d_attention = nullptr;
    verify(cudaMalloc(&d_table, NODES * SLOTS * sizeof(int)), "cudaMalloc table");
    verify(cudaMemcpy(d_table, h_table.data(), NODES * SLOTS * sizeof(int), cudaMemcpyHostToDevice),
            "copy table");
    verify(cudaMalloc(&d_receive, NODES * HEADS * sizeof(float)), "cudaMalloc receive");
    verify(cudaMemcpy(d_receive, h_receive.data(), NODES * HEADS * sizeof(float), cudaMemcpyHostToDevice),
            "copy receive");
    verify(cudaMalloc(&d_send, NODES * HEADS * sizeof(float)), "cudaMalloc send");
    verify(cudaMemcpy(d_send, h_send.data(), NODES * HEADS * sizeof(float), cudaMemcpyHostToDevice),
            "copy send");
    verify(cudaMalloc(&d_attention, NODES * SLOTS * HEADS * sizeof(float)), "cudaMalloc attention");

    edge_softmax<<<(NODES * HEADS + 127) / 128, 128>>>(d_table, d_receive, d_send, d_attention);
    verify(cudaGetLastError(), "launch");
    verify(cudaDeviceSynchronize(), "run");
    verify(cudaMemcpy(h_attention.data(), d_attention, NODES * SLOTS * HEADS * sizeof(float),
            cudaMemcpyDeviceToHost), "copy attention back");

    cudaFree(d_table);
    cudaFree(d_receive);
    cudaFree(d_send);
    cudaFree(d_attention);

    if (!write_all("data/attention.bin", h_attention)) return 1;
}
