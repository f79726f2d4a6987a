#define ITEMS 20000
#define SEGMENTS 3000

__device__ int lower_bound(const int* ids, int items, int key) {
    int lo = 0, hi = items;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (ids[mid] < key) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

__global__ void find_offsets(const int* ids, const int* capacity, int* offsets, int* excess,
                             int items, int segments) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s > segments) return;
    int start = lower_bound(ids, items, s);
    offsets[s] = start;
    if (s < segments) {
        int count = lower_bound(ids, items, s + 1) - start;
        excess[s] = max(0, count - capacity[s]);
    }
}

int main() {
    const int numel = SEGMENTS + 1;

    int* h_ids = new int[ITEMS];
    int* h_capacity = new int[SEGMENTS];
    read_binary("data/ids.bin", reinterpret_cast<float*>(h_ids), ITEMS);
    read_binary("data/capacity.bin", reinterpret_cast<float*>(h_capacity), SEGMENTS);
    int* d_ids = nullptr;
    int* d_capacity = nullptr;
    int* d_offsets = nullptr;
    int* d_excess = nullptr;
    cudaMalloc(&d_ids, ITEMS * sizeof(int));
    cudaMalloc(&d_capacity, SEGMENTS * sizeof(int));
    cudaMalloc(&d_offsets, numel * sizeof(int));
    cudaMalloc(&d_excess, SEGMENTS * sizeof(int));
    cudaMemcpy(d_ids, h_ids, ITEMS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_capacity, h_capacity, SEGMENTS * sizeof(int), cudaMemcpyHostToDevice);

    const int block = 256;
    const int grid = (numel + block - 1) / block;
    find_offsets<<<grid, block>>>(d_ids, d_capacity, d_offsets, d_excess, ITEMS, SEGMENTS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error" << std::endl;
        return 1;
    }

    int* h_offsets = new int[numel];
    cudaMemcpy(h_offsets, d_offsets, numel * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/offsets.bin", reinterpret_cast<const float*>(h_offsets), numel);
    int* h_excess = new int[SEGMENTS];
    cudaMemcpy(h_excess, d_excess, SEGMENTS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/excess.bin", reinterpret_cast<const float*>(h_excess), SEGMENTS);

    cudaFree(d_ids);
    cudaFree(d_capacity);
    cudaFree(d_offsets);
    cudaFree(d_excess);
    delete[] h_ids;
    delete[] h_capacity;
    delete[] h_offsets;
    delete[] h_excess;
    return 0;
}
