#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int kNodes = 300;
constexpr int kEdges = 5000;
constexpr int kPairs = 700;

__device__ bool contains(const int* list, int n, int wanted) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low < n && list[low] == wanted;
}

// A warp works on one pair: each lane looks up members of the shorter list in the longer one.
__global__ void intersect_warp(const int* row_start, const int* neighbor, const int* pair, int* common,
        int* first) {
    int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (p >= kPairs) return;
    int a = pair[2 * p], b = pair[2 * p + 1];
    const int* shorter = neighbor + row_start[a];
    const int* longer = neighbor + row_start[b];
    int n = row_start[a + 1] - row_start[a], m = row_start[b + 1] - row_start[b];
    if (n > m) {
        const int* list = shorter; shorter = longer; longer = list;
        int size = n; n = m; m = size;
    }
    int count = 0, smallest = -1;
    for (int k = 0; k < n; k += 32) {
        bool found = k + lane < n && contains(longer, m, shorter[k + lane]);
        unsigned int hits = __ballot_sync(0xffffffffu, found);
        if (hits && smallest < 0) smallest = shorter[k + __ffs(hits) - 1];
        count += __popc(hits);
    }
    if (lane == 0) {
        common[p] = count;
        first[p] = smallest;
    }
}

int main() {
    std::vector<int> row_start_h(kNodes + 1);
    std::vector<int> neighbor_h(kEdges);
    std::vector<int> pair_h(kPairs * 2);
    std::vector<int> common_h(kPairs);
    std::vector<int> first_h(kPairs);
    FILE* f0 = fopen("data/row_start.bin", "rb");
    if (!f0 || fread(row_start_h.data(), sizeof(int), kNodes + 1, f0) != kNodes + 1) return 1;
    FILE* f1 = fopen("data/neighbor.bin", "rb");
    if (!f1 || fread(neighbor_h.data(), sizeof(int), kEdges, f1) != kEdges) return 1;
    FILE* f2 = fopen("data/pair.bin", "rb");
    if (!f2 || fread(pair_h.data(), sizeof(int), kPairs * 2, f2) != kPairs * 2) return 1;
    fclose(f0); fclose(f1); fclose(f2);
    int *row_start_d, *neighbor_d, *pair_d, *common_d, *first_d;
    cudaMalloc(&row_start_d, (kNodes + 1) * sizeof(int));
    cudaMemcpy(row_start_d, row_start_h.data(), (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&neighbor_d, kEdges * sizeof(int));
    cudaMemcpy(neighbor_d, neighbor_h.data(), kEdges * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&pair_d, kPairs * 2 * sizeof(int));
    cudaMemcpy(pair_d, pair_h.data(), kPairs * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&common_d, kPairs * sizeof(int));
    cudaMalloc(&first_d, kPairs * sizeof(int));
    const int warps = 8;
    intersect_warp<<<(kPairs + warps - 1) / warps, warps * 32>>>(row_start_d, neighbor_d, pair_d, common_d,
            first_d);
    cudaMemcpy(common_h.data(), common_d, kPairs * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(first_h.data(), first_d, kPairs * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/common.bin", "wb");
    fwrite(common_h.data(), sizeof(int), kPairs, o0);
    fclose(o0);
    FILE* o1 = fopen("data/first.bin", "wb");
    fwrite(first_h.data(), sizeof(int), kPairs, o1);
    fclose(o1);
    return 0;
}
