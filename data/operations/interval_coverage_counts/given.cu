const int INTERVALS = 600;
const int LENGTH = 20000;
const int SPAN = 1024;
const int PARTS = (LENGTH + SPAN - 1) / SPAN;

__global__ void mark_ends(const int* begin, const int* end, int* change) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < INTERVALS) {
        atomicAdd(&change[begin[k]], 1);
        atomicAdd(&change[end[k]], -1);
    }
}

__global__ void part_sums(const int* change, int* sums) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= PARTS) return;
    int sum = 0;
    for (int p = s * SPAN; p < min((s + 1) * SPAN, LENGTH); ++p) sum += change[p];
    sums[s] = sum;
}

__global__ void scan_parts(int* sums, const int* base, int* deepest) {
    int running = 0;
    for (int s = 0; s < PARTS; ++s) {
        int own = sums[s];
        sums[s] = running;
        running += own;
    }
    deepest[0] = base[0];
}

__global__ void write_depth(const int* change, const int* sums, const int* base, int* depth, int* deepest) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= PARTS) return;
    int running = sums[s];
    for (int p = s * SPAN; p < min((s + 1) * SPAN, LENGTH); ++p) {
        running += change[p];
        depth[p] = base[p] + running;
        atomicMax(deepest, depth[p]);
    }
}

int main() {
    const int change_size = LENGTH + 1;

    std::vector<int> h_begin(INTERVALS);
    std::vector<int> h_end(INTERVALS);
    std::vector<int> h_base(LENGTH);
    read_binary("data/begin.bin", reinterpret_cast<float*>(h_begin.data()), INTERVALS);
    read_binary("data/end.bin", reinterpret_cast<float*>(h_end.data()), INTERVALS);
    read_binary("data/base.bin", reinterpret_cast<float*>(h_base.data()), LENGTH);

    int *d_begin, *d_end, *d_base;
    cudaMalloc(&d_begin, INTERVALS * sizeof(int));
    cudaMalloc(&d_end, INTERVALS * sizeof(int));
    cudaMalloc(&d_base, LENGTH * sizeof(int));
    cudaMemcpy(d_begin, h_begin.data(), INTERVALS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_end, h_end.data(), INTERVALS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_base, h_base.data(), LENGTH * sizeof(int), cudaMemcpyHostToDevice);

    int *d_depth, *d_deepest, *d_change, *d_sums;
    cudaMalloc(&d_depth, LENGTH * sizeof(int));
    cudaMalloc(&d_deepest, sizeof(int));
    cudaMalloc(&d_change, change_size * sizeof(int));
    cudaMalloc(&d_sums, PARTS * sizeof(int));

    cudaMemset(d_change, 0, change_size * sizeof(int));
    int threadsPerBlock = 256;
    mark_ends<<<(INTERVALS + threadsPerBlock - 1) / threadsPerBlock, threadsPerBlock>>>(d_begin, d_end,
        d_change);
    part_sums<<<(PARTS + threadsPerBlock - 1) / threadsPerBlock, threadsPerBlock>>>(d_change, d_sums);
    scan_parts<<<1, 1>>>(d_sums, d_base, d_deepest);
    write_depth<<<(PARTS + threadsPerBlock - 1) / threadsPerBlock, threadsPerBlock>>>(d_change, d_sums,
        d_base, d_depth, d_deepest);
    cudaDeviceSynchronize();

    std::vector<int> h_depth(LENGTH);
    std::vector<int> h_deepest(1);
    cudaMemcpy(h_depth.data(), d_depth, LENGTH * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/depth.bin", reinterpret_cast<float*>(h_depth.data()), LENGTH);
    cudaMemcpy(h_deepest.data(), d_deepest, sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/deepest.bin", reinterpret_cast<float*>(h_deepest.data()), 1);

    cudaFree(d_begin);
    cudaFree(d_end);
    cudaFree(d_base);
    cudaFree(d_depth);
    cudaFree(d_deepest);
    cudaFree(d_change);
    cudaFree(d_sums);
    return 0;
}
