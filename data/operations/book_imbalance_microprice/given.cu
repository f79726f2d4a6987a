const int SNAPSHOTS = 2000;
const int LEVELS = 10;

__global__ void book_summary(const float* bid_price, const float* ask_price, const float* bid_size,
                             const float* ask_size, float* imbalance, float* microprice, int snapshots,
                             int levels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= snapshots) return;
    const float* bids = bid_size + (size_t)i * levels;
    const float* asks = ask_size + (size_t)i * levels;
    float b = 0.0f, a = 0.0f, w = 1.0f;
    for (int l = 0; l < levels; l++) {
        b += w * bids[l];
        a += w * asks[l];
        w *= 0.8f;
    }
    imbalance[i] = b + a > 0.0f ? (b - a) / (b + a) : 0.0f;
    float top = bids[0] + asks[0];
    if (top > 0.0f) microprice[i] = (bid_price[i] * asks[0] + ask_price[i] * bids[0]) / top;
    else microprice[i] = 0.5f * (bid_price[i] + ask_price[i]);
}

int main() {
    const int count = SNAPSHOTS * LEVELS;
    const size_t bytes = SNAPSHOTS * sizeof(float);

    std::vector<float> h_bid_price(SNAPSHOTS);
    std::vector<float> h_ask_price(SNAPSHOTS);
    std::vector<float> h_bid_size(count);
    std::vector<float> h_ask_size(count);
    std::vector<float> h_imbalance(SNAPSHOTS);
    std::vector<float> h_microprice(SNAPSHOTS);

    read_binary("data/bid_price.bin", h_bid_price.data(), SNAPSHOTS);
    read_binary("data/ask_price.bin", h_ask_price.data(), SNAPSHOTS);
    read_binary("data/bid_size.bin", h_bid_size.data(), count);
    read_binary("data/ask_size.bin", h_ask_size.data(), count);

    float* d_bid_price = nullptr;
    float* d_ask_price = nullptr;
    float* d_bid_size = nullptr;
    float* d_ask_size = nullptr;
    float* d_imbalance = nullptr;
    float* d_microprice = nullptr;
    cudaMalloc(&d_bid_price, bytes);
    cudaMalloc(&d_ask_price, bytes);
    cudaMalloc(&d_bid_size, count * sizeof(float));
    cudaMalloc(&d_ask_size, count * sizeof(float));
    cudaMalloc(&d_imbalance, bytes);
    cudaMalloc(&d_microprice, bytes);

    cudaMemcpy(d_bid_price, h_bid_price.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_ask_price, h_ask_price.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_bid_size, h_bid_size.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_ask_size, h_ask_size.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 128;
    const int grid = (SNAPSHOTS + block - 1) / block;
    book_summary<<<grid, block>>>(d_bid_price, d_ask_price, d_bid_size, d_ask_size, d_imbalance, d_microprice,
                                  SNAPSHOTS, LEVELS);
    cudaDeviceSynchronize();

    cudaMemcpy(h_imbalance.data(), d_imbalance, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_microprice.data(), d_microprice, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/imbalance.bin", h_imbalance.data(), SNAPSHOTS);
    write_binary("data/microprice.bin", h_microprice.data(), SNAPSHOTS);

    cudaFree(d_bid_price);
    cudaFree(d_ask_price);
    cudaFree(d_bid_size);
    cudaFree(d_ask_size);
    cudaFree(d_imbalance);
    cudaFree(d_microprice);
    return 0;
}
