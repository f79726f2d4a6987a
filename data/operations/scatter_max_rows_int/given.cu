constexpr int kRows = 50;
constexpr int kCols = 60;
constexpr int kUpdates = 300;

__global__ void scatter_max(const int* values, const int* index, int* best, int* hits, int updates, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= updates * cols) return;
    int u = i / cols;
    int c = i % cols;
    int r = index[u];
    atomicMax(&best[r * cols + c], values[i]);
    if (c == 0) atomicAdd(&hits[r], 1);
}

int main() {
    const int n = kRows * kCols;
    const int values_count = kUpdates * kCols;
    int* h_initial = new int[n];
    read_binary("data/initial.bin", reinterpret_cast<float*>(h_initial), n);
    int* h_values = new int[values_count];
    read_binary("data/values.bin", reinterpret_cast<float*>(h_values), values_count);
    int* h_index = new int[kUpdates];
    read_binary("data/index.bin", reinterpret_cast<float*>(h_index), kUpdates);
    int* h_best = new int[n];
    int* h_hits = new int[kRows];

    int* d_initial;
    int* d_values;
    int* d_index;
    int* d_best;
    int* d_hits;
    cudaMalloc(&d_initial, n * sizeof(int));
    cudaMalloc(&d_values, values_count * sizeof(int));
    cudaMalloc(&d_index, kUpdates * sizeof(int));
    cudaMalloc(&d_best, n * sizeof(int));
    cudaMalloc(&d_hits, kRows * sizeof(int));
    cudaMemcpy(d_initial, h_initial, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_values, h_values, values_count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_index, h_index, kUpdates * sizeof(int), cudaMemcpyHostToDevice);

    cudaMemcpy(d_best, d_initial, n * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemset(d_hits, 0, kRows * sizeof(int));
    int threads = 256;
    int blocks = (values_count + threads - 1) / threads;
    scatter_max<<<blocks, threads>>>(d_values, d_index, d_best, d_hits, kUpdates, kCols);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_best, d_best, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hits, d_hits, kRows * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/best.bin", reinterpret_cast<const float*>(h_best), n);
    write_binary("data/hits.bin", reinterpret_cast<const float*>(h_hits), kRows);

    cudaFree(d_initial);
    cudaFree(d_values);
    cudaFree(d_index);
    cudaFree(d_best);
    cudaFree(d_hits);
    delete[] h_initial;
    delete[] h_values;
    delete[] h_index;
    delete[] h_best;
    delete[] h_hits;
    return 0;
}
