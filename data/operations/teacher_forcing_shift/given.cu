const int BATCH = 40;
const int LENGTH = 100;

__global__ void make_decoder_rows(const int* tokens, const int* lengths, int* decoder_input, int* label,
                                  int* label_count, int length) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (t > length) return;
    int n = lengths[b];
    int out = b * (length + 1) + t;

    int source = 0;
    if (t == 0) {
        source = 1;
    } else if (t <= n) {
        source = tokens[b * length + t - 1];
    }
    decoder_input[out] = source;

    int target = -100;
    if (t < n && tokens[b * length + t] != 3) target = tokens[b * length + t];
    if (t == n) target = 2;
    label[out] = target;
    if (target != -100) atomicAdd(label_count, 1);
}

int main() {
    const size_t tokens_size = BATCH * LENGTH;
    const size_t shifted_count = BATCH * (LENGTH + 1);

    std::vector<int> h_tokens(tokens_size);
    std::vector<int> h_lengths(BATCH);
    std::vector<int> h_decoder_input(shifted_count);
    std::vector<int> h_label(shifted_count);
    std::vector<int> h_label_count(1);

    read_binary("data/tokens.bin", reinterpret_cast<float*>(h_tokens.data()), tokens_size);
    read_binary("data/lengths.bin", reinterpret_cast<float*>(h_lengths.data()), BATCH);

    int* d_tokens;
    int* d_lengths;
    int* d_decoder_input;
    int* d_label;
    int* d_label_count;
    cudaMalloc(&d_tokens, tokens_size * sizeof(int));
    cudaMalloc(&d_lengths, BATCH * sizeof(int));
    cudaMalloc(&d_decoder_input, shifted_count * sizeof(int));
    cudaMalloc(&d_label, shifted_count * sizeof(int));
    cudaMalloc(&d_label_count, sizeof(int));

    cudaMemcpy(d_tokens, h_tokens.data(), tokens_size * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, h_lengths.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);

    cudaMemset(d_label_count, 0, sizeof(int));
    const int threads = 128;
    dim3 grid((LENGTH + threads) / threads, BATCH);
    make_decoder_rows<<<grid, threads>>>(d_tokens, d_lengths, d_decoder_input, d_label, d_label_count, LENGTH);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_decoder_input.data(), d_decoder_input, shifted_count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_label.data(), d_label, shifted_count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_label_count.data(), d_label_count, sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/decoder_input.bin", reinterpret_cast<const float*>(h_decoder_input.data()), shifted_count);
    write_binary("data/label.bin", reinterpret_cast<const float*>(h_label.data()), shifted_count);
    write_binary("data/label_count.bin", reinterpret_cast<const float*>(h_label_count.data()), 1);

    cudaFree(d_tokens);
    cudaFree(d_lengths);
    cudaFree(d_decoder_input);
    cudaFree(d_label);
    cudaFree(d_label_count);
    return 0;
}
