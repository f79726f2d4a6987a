const int ROWS = 20;
const int VOCAB = 700;

__global__ void draw_tokens(const int* weights, const unsigned int* draw, int* token, long long* total, int rows,
                            int vocab) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* w = weights + r * vocab;
    unsigned long long sum = 0;
    for (int v = 0; v < vocab; v++) sum += w[v];
    unsigned long long target = (draw[r] * sum) >> 32;
    unsigned long long running = w[0];
    int chosen = 0;
    while (chosen < vocab - 1 && running <= target) {
        chosen++;
        running += w[chosen];
    }
    token[r] = chosen;
    total[r] = (long long)sum;
}

int main() {
    const int count = ROWS * VOCAB;
    std::vector<int> h_weights(count);
    read_binary("data/weights.bin", reinterpret_cast<float*>(h_weights.data()), count);
    std::vector<unsigned int> h_draw(ROWS);
    read_binary("data/draw.bin", reinterpret_cast<float*>(h_draw.data()), ROWS);
    std::vector<int> h_token(ROWS);
    std::vector<long long> h_total(ROWS);

    int* d_weights;
    unsigned int* d_draw;
    int* d_token;
    long long* d_total;
    cudaMalloc(&d_weights, count * sizeof(int));
    cudaMalloc(&d_draw, ROWS * sizeof(unsigned int));
    cudaMalloc(&d_token, ROWS * sizeof(int));
    cudaMalloc(&d_total, ROWS * sizeof(long long));
    cudaMemcpy(d_weights, h_weights.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_draw, h_draw.data(), ROWS * sizeof(unsigned int), cudaMemcpyHostToDevice);

    const int threads = 128;
    const int blocks = (ROWS + threads - 1) / threads;
    draw_tokens<<<blocks, threads>>>(d_weights, d_draw, d_token, d_total, ROWS, VOCAB);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_token.data(), d_token, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_total.data(), d_total, ROWS * sizeof(long long), cudaMemcpyDeviceToHost);
    write_binary("data/token.bin", reinterpret_cast<const float*>(h_token.data()), ROWS);
    write_binary("data/total.bin", reinterpret_cast<const float*>(h_total.data()), 2 * ROWS);

    cudaFree(d_total);
    cudaFree(d_token);
    cudaFree(d_draw);
    cudaFree(d_weights);
    return 0;
}
