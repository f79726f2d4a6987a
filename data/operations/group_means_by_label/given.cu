constexpr int N = 2500;
constexpr int DIMS = 8;
constexpr int GROUPS = 20;

__global__ void accumulate(const float* x, const int* label, float* sums, int* counts, int n, int dims) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int g = label[i];
    if (g < 0) return;
    atomicAdd(&counts[g], 1);
    for (int d = 0; d < dims; ++d) {
        atomicAdd(&sums[g * dims + d], x[(size_t)i * dims + d]);
    }
}

__global__ void divide(const float* sums, const int* counts, const float* old, float* means, int dims,
                       int groups) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= groups * dims) return;
    int n = counts[k / dims];
    means[k] = n > 0 ? sums[k] / n : old[k];
}

int main() {
    const size_t x_count = (size_t)N * DIMS;
    const size_t old_count = GROUPS * DIMS;

    float* h_x = new float[x_count];
    int* h_label = new int[N];
    float* h_old = new float[old_count];
    float* h_means = new float[old_count];
    int* h_counts = new int[GROUPS];
    read_binary("data/x.bin", h_x, x_count);
    read_binary("data/label.bin", reinterpret_cast<float*>(h_label), N);
    read_binary("data/old.bin", h_old, old_count);

    float *d_x, *d_old, *d_means;
    int *d_label, *d_counts;
    cudaMalloc(&d_x, x_count * sizeof(float));
    cudaMemcpy(d_x, h_x, x_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_label, N * sizeof(int));
    cudaMemcpy(d_label, h_label, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_old, old_count * sizeof(float));
    cudaMemcpy(d_old, h_old, old_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_means, old_count * sizeof(float));
    cudaMalloc(&d_counts, GROUPS * sizeof(int));
    float* d_sums;
    cudaMalloc(&d_sums, old_count * sizeof(float));
    cudaMemset(d_sums, 0, old_count * sizeof(float));
    cudaMemset(d_counts, 0, GROUPS * sizeof(int));

    const int block = 256;
    accumulate<<<(N + block - 1) / block, block>>>(d_x, d_label, d_sums, d_counts, N, DIMS);
    divide<<<(old_count + block - 1) / block, block>>>(d_sums, d_counts, d_old, d_means, DIMS, GROUPS);

    cudaMemcpy(h_means, d_means, old_count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_counts, d_counts, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/means.bin", h_means, old_count);
    write_binary("data/counts.bin", reinterpret_cast<const float*>(h_counts), GROUPS);

    cudaFree(d_x);
    cudaFree(d_label);
    cudaFree(d_old);
    cudaFree(d_means);
    cudaFree(d_counts);
    cudaFree(d_sums);
    delete[] h_x;
    delete[] h_label;
    delete[] h_old;
    delete[] h_means;
    delete[] h_counts;
    return 0;
}
