const int HEADS = 4;
const int QUERIES = 90;
const int KEYS = 100;

__global__ void add_bias(const float* scores, const float* bias, float* biased, int queries, int keys) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    int h = blockIdx.z;
    if (j >= keys) return;
    int distance = i + keys - queries - j;
    size_t at = ((size_t)h * queries + i) * keys + j;
    if (distance < 0)
        biased[at] = -10000.0f;
    else
        biased[at] = 0.125f * scores[at] + bias[h * 65 + min(distance, 64)];
}

int main() {
    const size_t scores_size = HEADS * QUERIES * KEYS;
    const size_t bias_size = static_cast<size_t>(HEADS) * 65;
    const size_t scores_bytes = scores_size * sizeof(float);
    const size_t bias_bytes = bias_size * sizeof(float);

    std::vector<float> h_scores(scores_size);
    read_binary("data/scores.bin", h_scores.data(), scores_size);
    std::vector<float> h_bias(bias_size);
    read_binary("data/bias.bin", h_bias.data(), bias_size);

    float* d_scores;
    cudaMalloc(&d_scores, scores_bytes);
    float* d_bias;
    cudaMalloc(&d_bias, bias_bytes);
    float* d_biased;
    cudaMalloc(&d_biased, scores_bytes);
    cudaMemcpy(d_scores, h_scores.data(), scores_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, h_bias.data(), bias_bytes, cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((KEYS + block.x - 1) / block.x, QUERIES, HEADS);
    add_bias<<<grid, block>>>(d_scores, d_bias, d_biased, QUERIES, KEYS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::vector<float> h_biased(scores_size);
    cudaMemcpy(h_biased.data(), d_biased, scores_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/biased.bin", h_biased.data(), scores_size);
    cudaFree(d_scores);
    cudaFree(d_bias);
    cudaFree(d_biased);
    return 0;
}
