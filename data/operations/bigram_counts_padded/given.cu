const int BATCH = 50;
const int LENGTH = 200;
const int VOCAB = 40;

__global__ void bigram_kernel(const int* tokens, int* counts, int* totals, int length, int vocab) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (t >= length - 1) return;
    int u = tokens[b * length + t];
    int v = tokens[b * length + t + 1];
    if (u >= 0 && v >= 0) {
        atomicAdd(&counts[u * vocab + v], 1);
        atomicAdd(&totals[b], 1);
    }
}

int main() {
    std::vector<int> h_tokens(BATCH * LENGTH);
    read_binary("data/tokens.bin", reinterpret_cast<float*>(h_tokens.data()), BATCH * LENGTH);
    std::vector<int> h_counts(VOCAB * VOCAB);
    std::vector<int> h_totals(BATCH);

    int *d_tokens, *d_counts, *d_totals;
    cudaMalloc(&d_tokens, BATCH * LENGTH * sizeof(int));
    cudaMemcpy(d_tokens, h_tokens.data(), BATCH * LENGTH * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_counts, VOCAB * VOCAB * sizeof(int));
    cudaMalloc(&d_totals, BATCH * sizeof(int));

    cudaMemset(d_counts, 0, VOCAB * VOCAB * sizeof(int));
    cudaMemset(d_totals, 0, BATCH * sizeof(int));
    dim3 block(128);
    dim3 grid((LENGTH + block.x - 1) / block.x, BATCH);
    bigram_kernel<<<grid, block>>>(d_tokens, d_counts, d_totals, LENGTH, VOCAB);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_counts.data(), d_counts, VOCAB * VOCAB * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_totals.data(), d_totals, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/counts.bin", reinterpret_cast<float*>(h_counts.data()), VOCAB * VOCAB);
    write_binary("data/totals.bin", reinterpret_cast<float*>(h_totals.data()), BATCH);

    cudaFree(d_tokens);
    cudaFree(d_counts);
    cudaFree(d_totals);
    return 0;
}
