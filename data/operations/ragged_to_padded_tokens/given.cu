const int BATCH = 60;
const int TOTAL = 6000;
const int WIDTH = 160;

__global__ void pad_tokens(const int* values, const int* offsets, int* padded, int* lost, int batch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * WIDTH) return;
    int b = i / WIDTH;
    int t = i % WIDTH;
    int start = offsets[b];
    int end = offsets[b + 1];
    int dropped = max(end - start - WIDTH, 0);
    int source = start + dropped + t;
    padded[i] = source < end ? values[source] : -1;
    if (t == 0) lost[b] = dropped;
}

int main() {
    const int offsets_count = BATCH + 1;
    const int padded_size = BATCH * 160;

    std::vector<int> h_values(TOTAL);
    std::vector<int> h_offsets(offsets_count);
    std::vector<int> h_padded(padded_size);
    std::vector<int> h_lost(BATCH);
    read_binary("data/values.bin", reinterpret_cast<float*>(h_values.data()), TOTAL);
    read_binary("data/offsets.bin", reinterpret_cast<float*>(h_offsets.data()), offsets_count);

    int* d_values;
    cudaMalloc(&d_values, TOTAL * sizeof(int));
    cudaMemcpy(d_values, h_values.data(), TOTAL * sizeof(int), cudaMemcpyHostToDevice);
    int* d_offsets;
    cudaMalloc(&d_offsets, offsets_count * sizeof(int));
    cudaMemcpy(d_offsets, h_offsets.data(), offsets_count * sizeof(int), cudaMemcpyHostToDevice);
    int* d_padded;
    cudaMalloc(&d_padded, padded_size * sizeof(int));
    int* d_lost;
    cudaMalloc(&d_lost, BATCH * sizeof(int));

    const int block = 256;
    const int grid = (BATCH * WIDTH + block - 1) / block;
    pad_tokens<<<grid, block>>>(d_values, d_offsets, d_padded, d_lost, BATCH);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_padded.data(), d_padded, padded_size * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/padded.bin", reinterpret_cast<const float*>(h_padded.data()), padded_size);
    cudaMemcpy(h_lost.data(), d_lost, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/lost.bin", reinterpret_cast<const float*>(h_lost.data()), BATCH);

    cudaFree(d_values);
    cudaFree(d_offsets);
    cudaFree(d_padded);
    cudaFree(d_lost);
    return 0;
}
