#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int PARTITIONS = 7;
constexpr int NODES = 600;
constexpr int EDGES = 4000;

inline void checkCuda(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

template <typename T>
bool loadBinary(const char* path, std::vector<T>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(T), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

template <typename T>
bool saveBinary(const char* path, const std::vector<T>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(T), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

__global__ void add_cut_edges(const int* edge, const int* weight, const unsigned char* side, int* cut) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y;
    if (e >= EDGES) return;
    const unsigned char* s = side + (size_t)p * NODES;
    if (s[edge[2 * e]] != s[edge[2 * e + 1]]) atomicAdd(&cut[p], weight[e]);
}

int main() {
    std::vector<int> edge(EDGES * 2);
    std::vector<int> weight(EDGES);
    std::vector<unsigned char> side(PARTITIONS * NODES);
    std::vector<int> cut(PARTITIONS);
    if (!loadBinary("data/edge.bin", edge) ||
        !loadBinary("data/weight.bin", weight) ||
        !loadBinary("data/side.bin", side)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    int *dev_edge, *dev_weight, *dev_cut;
    unsigned char *dev_side;
    checkCuda(cudaMalloc(&dev_edge, EDGES * 2 * sizeof(int)), "allocate edge");
    checkCuda(cudaMemcpy(dev_edge, edge.data(), EDGES * 2 * sizeof(int), cudaMemcpyHostToDevice), "copy edge");
    checkCuda(cudaMalloc(&dev_weight, EDGES * sizeof(int)), "allocate weight");
    checkCuda(cudaMemcpy(dev_weight, weight.data(), EDGES * sizeof(int), cudaMemcpyHostToDevice),
            "copy weight");
    checkCuda(cudaMalloc(&dev_side, PARTITIONS * NODES * sizeof(unsigned char)), "allocate side");
    checkCuda(cudaMemcpy(dev_side, side.data(), PARTITIONS * NODES * sizeof(unsigned char),
            cudaMemcpyHostToDevice), "copy side");
    checkCuda(cudaMalloc(&dev_cut, PARTITIONS * sizeof(int)), "allocate cut");

    checkCuda(cudaMemset(dev_cut, 0, PARTITIONS * sizeof(int)), "device copy");
    dim3 grid((EDGES + 255) / 256, PARTITIONS);
    add_cut_edges<<<grid, 256>>>(dev_edge, dev_weight, dev_side, dev_cut);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaDeviceSynchronize(), "kernel");
    checkCuda(cudaMemcpy(cut.data(), dev_cut, PARTITIONS * sizeof(int), cudaMemcpyDeviceToHost),
            "copy cut back");

    cudaFree(dev_edge);
    cudaFree(dev_weight);
    cudaFree(dev_side);
    cudaFree(dev_cut);

    if (!saveBinary("data/cut.bin", cut)) {
        fprintf(stderr, "cannot write data/cut.bin\n");
        return 1;
    }
    return 0;
}
