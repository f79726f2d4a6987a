#include <cuda_runtime.h>
#include <vector>
#include <cstdio>

constexpr int kNodes = 2000;
constexpr int kEdges = 5000;

// Weight bits above, edge number below: the smallest key is the answer for a vertex.
__global__ void offer_edges(const int2* edge, const float* weight, unsigned long long* key) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= kEdges) return;
    int2 ends = edge[e];
    if (ends.x == ends.y) return;
    unsigned long long mine = ((unsigned long long)__float_as_uint(weight[e]) << 32) | (unsigned int)e;
    if (mine < key[ends.x]) atomicMin(&key[ends.x], mine);
    if (mine < key[ends.y]) atomicMin(&key[ends.y], mine);
}

__global__ void unpack_keys(const unsigned long long* key, float* lightest, int* chosen) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= kNodes) return;
    unsigned long long k = key[v];
    int e = (int)(k & 0xffffffffull);
    chosen[v] = e;
    lightest[v] = e < 0 ? 0.0f : __uint_as_float((unsigned int)(k >> 32));
}

int main() {
    std::vector<int> h_edge(kEdges * 2);
    std::vector<float> h_weight(kEdges);
    std::vector<float> h_lightest(kNodes);
    std::vector<int> h_chosen(kNodes);
    FILE* f0 = fopen("data/edge.bin", "rb");
    if (!f0 || fread(h_edge.data(), sizeof(int), kEdges * 2, f0) != kEdges * 2) return 1;
    FILE* f1 = fopen("data/weight.bin", "rb");
    if (!f1 || fread(h_weight.data(), sizeof(float), kEdges, f1) != kEdges) return 1;
    fclose(f0); fclose(f1);
    int *d_edge, *d_chosen;
    float *d_weight, *d_lightest;
    unsigned long long *d_key;
    cudaMalloc(&d_edge, kEdges * 2 * sizeof(int));
    cudaMalloc(&d_weight, kEdges * sizeof(float));
    cudaMalloc(&d_lightest, kNodes * sizeof(float));
    cudaMalloc(&d_chosen, kNodes * sizeof(int));
    cudaMalloc(&d_key, kNodes * sizeof(unsigned long long));
    cudaMemcpy(d_edge, h_edge.data(), kEdges * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), kEdges * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_key, 0xff, kNodes * sizeof(unsigned long long));
    offer_edges<<<(kEdges + 127) / 128, 128>>>((const int2*)d_edge, d_weight, d_key);
    unpack_keys<<<(kNodes + 127) / 128, 128>>>(d_key, d_lightest, d_chosen);
    cudaMemcpy(h_lightest.data(), d_lightest, kNodes * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_chosen.data(), d_chosen, kNodes * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/lightest.bin", "wb");
    fwrite(h_lightest.data(), sizeof(float), kNodes, o0);
    fclose(o0);
    FILE* o1 = fopen("data/chosen.bin", "wb");
    fwrite(h_chosen.data(), sizeof(int), kNodes, o1);
    fclose(o1);
    return 0;
}
