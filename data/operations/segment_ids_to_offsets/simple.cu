#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ITEMS 20000
#define SEGMENTS 3000

__device__ int lower_bound(const int* ids, int key) {
    int lo = 0, hi = ITEMS;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (ids[mid] < key) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

__global__ void find_offsets(const int* ids, const int* capacity, int* offsets, int* excess) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s > SEGMENTS) return;
    int start = lower_bound(ids, s);
    offsets[s] = start;
    if (s < SEGMENTS) excess[s] = max(0, lower_bound(ids, s + 1) - start - capacity[s]);
}

int main() {
    const size_t len = SEGMENTS + 1;
    std::vector<int> ids(ITEMS), capacity(SEGMENTS), offsets(len), excess(SEGMENTS);
    std::ifstream f_ids("data/ids.bin", std::ios::binary);
    if (!f_ids.read((char*)ids.data(), ITEMS * sizeof(int))) return 1;
    std::ifstream f_capacity("data/capacity.bin", std::ios::binary);
    if (!f_capacity.read((char*)capacity.data(), SEGMENTS * sizeof(int))) return 1;
    int* dev_ids;
    int* dev_capacity;
    int* dev_offsets;
    int* dev_excess;
    cudaMalloc(&dev_ids, ITEMS * sizeof(int));
    cudaMalloc(&dev_capacity, SEGMENTS * sizeof(int));
    cudaMalloc(&dev_offsets, len * sizeof(int));
    cudaMalloc(&dev_excess, SEGMENTS * sizeof(int));
    cudaMemcpy(dev_ids, ids.data(), ITEMS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_capacity, capacity.data(), SEGMENTS * sizeof(int), cudaMemcpyHostToDevice);
    find_offsets<<<(SEGMENTS + 1 + 255) / 256, 256>>>(dev_ids, dev_capacity, dev_offsets, dev_excess);
    cudaMemcpy(offsets.data(), dev_offsets, len * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(excess.data(), dev_excess, SEGMENTS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/offsets.bin", std::ios::binary).write((char*)offsets.data(), len * sizeof(int));
    std::ofstream("data/excess.bin", std::ios::binary).write((char*)excess.data(), SEGMENTS * sizeof(int));
    return 0;
}
