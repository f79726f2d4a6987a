const int ASSETS = 100;
const int DAYS = 200;

__global__ void crossing_kernel(const float* prices, float* gap, int* crossings, int assets, int days) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= assets) return;
    const float* p = prices + (size_t)a * days;
    float* g = gap + (size_t)a * days;
    float fast = p[0], slow = p[0];
    int count = 0;
    g[0] = 0.0f;
    for (int t = 1; t < days; ++t) {
        fast += 2.0f / 13.0f * (p[t] - fast);
        slow += 2.0f / 27.0f * (p[t] - slow);
        g[t] = fast - slow;
        if (t >= 2 && (g[t] > 0.0f) != (g[t - 1] > 0.0f)) ++count;
    }
    crossings[a] = count;
}

int main() {
    std::vector<float> h_prices(ASSETS * DAYS);
    read_binary("data/prices.bin", h_prices.data(), ASSETS * DAYS);

    float* d_prices = nullptr;
    cudaMalloc(&d_prices, ASSETS * DAYS * sizeof(float));
    float* d_gap = nullptr;
    cudaMalloc(&d_gap, ASSETS * DAYS * sizeof(float));
    int* d_crossings = nullptr;
    cudaMalloc(&d_crossings, ASSETS * sizeof(int));
    cudaMemcpy(d_prices, h_prices.data(), ASSETS * DAYS * sizeof(float), cudaMemcpyHostToDevice);

    int block_size = 128;
    int grid_size = (ASSETS + block_size - 1) / block_size;
    crossing_kernel<<<grid_size, block_size>>>(d_prices, d_gap, d_crossings, ASSETS, DAYS);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::vector<float> h_gap(ASSETS * DAYS);
    std::vector<int> h_crossings(ASSETS);
    cudaMemcpy(h_gap.data(), d_gap, ASSETS * DAYS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_crossings.data(), d_crossings, ASSETS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/gap.bin", h_gap.data(), ASSETS * DAYS);
    write_binary("data/crossings.bin", reinterpret_cast<const float*>(h_crossings.data()), ASSETS);

    cudaFree(d_prices);
    cudaFree(d_gap);
    cudaFree(d_crossings);
    return 0;
}
