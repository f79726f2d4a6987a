const int ROWS = 50;
const int COLS = 200;
const int QUANTILES = 9;

__device__ float quantile(const float* table, int col, float p) {
    float h = p * (ROWS - 1);
    int k = (int)floorf(h);
    float low = table[(size_t)k * COLS + col];
    if (k >= ROWS - 1) return low;
    float high = table[(size_t)(k + 1) * COLS + col];
    return low + (h - k) * (high - low);
}

__global__ void column_quantiles(const float* table, const float* levels, float* result) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int q = blockIdx.y;
    if (c < COLS) result[(size_t)q * COLS + c] = quantile(table, c, levels[q]);
}

__global__ void column_spread(const float* table, float* spread) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < COLS) spread[c] = quantile(table, c, 0.75f) - quantile(table, c, 0.25f);
}

int main() {
    const int table_count = ROWS * COLS;

    std::vector<float> h_table(table_count);
    std::vector<float> h_levels(QUANTILES);
    read_binary("data/table.bin", h_table.data(), table_count);
    read_binary("data/levels.bin", h_levels.data(), QUANTILES);

    float* d_table;
    float* d_levels;
    float* d_result;
    float* d_spread;
    cudaMalloc(&d_table, table_count * sizeof(float));
    cudaMalloc(&d_levels, QUANTILES * sizeof(float));
    cudaMalloc(&d_result, QUANTILES * COLS * sizeof(float));
    cudaMalloc(&d_spread, COLS * sizeof(float));
    cudaMemcpy(d_table, h_table.data(), table_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_levels, h_levels.data(), QUANTILES * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 256;
    const int blocks = (COLS + block - 1) / block;
    column_quantiles<<<dim3(blocks, QUANTILES), block>>>(d_table, d_levels, d_result);
    column_spread<<<blocks, block>>>(d_table, d_spread);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    std::vector<float> h_result(QUANTILES * COLS);
    cudaMemcpy(h_result.data(), d_result, QUANTILES * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/result.bin", h_result.data(), QUANTILES * COLS);
    std::vector<float> h_spread(COLS);
    cudaMemcpy(h_spread.data(), d_spread, COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/spread.bin", h_spread.data(), COLS);

    cudaFree(d_table);
    cudaFree(d_levels);
    cudaFree(d_result);
    cudaFree(d_spread);
    return 0;
}
