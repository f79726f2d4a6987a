#define FUNDS 60
#define DAYS 250
#define BLOCK 128

__device__ float block_sum(float v) {
    __shared__ float buffer[BLOCK];
    buffer[threadIdx.x] = v;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    float total = buffer[0];
    __syncthreads();
    return total;
}

__global__ void fund_ratios(const float* returns, const float* risk_free, float* sharpe, float* sortino, int days) {
    const float* row = returns + (size_t)blockIdx.x * days;
    float sum = 0.0f, down = 0.0f;
    for (int t = threadIdx.x; t < days; t += BLOCK) {
        float e = row[t] - risk_free[t];
        sum += e;
        if (e < 0.0f) down += e * e;
    }
    float mean = block_sum(sum) / days;
    float d = sqrtf(block_sum(down) / days);
    float squares = 0.0f;
    for (int t = threadIdx.x; t < days; t += BLOCK) {
        float e = row[t] - risk_free[t] - mean;
        squares += e * e;
    }
    float s = sqrtf(block_sum(squares) / (days - 1));
    if (threadIdx.x == 0) {
        sharpe[blockIdx.x] = sqrtf(252.0f) * mean / s;
        sortino[blockIdx.x] = sqrtf(252.0f) * mean / d;
    }
}

int main() {
    const int total = FUNDS * DAYS;
    const size_t size_bytes = FUNDS * sizeof(float);
    float* h_returns = new float[total];
    read_binary("data/returns.bin", h_returns, total);
    float* h_risk_free = new float[DAYS];
    read_binary("data/risk_free.bin", h_risk_free, DAYS);
    float* h_sharpe = new float[FUNDS];
    float* h_sortino = new float[FUNDS];

    float* d_returns = nullptr;
    float* d_risk_free = nullptr;
    float* d_sharpe = nullptr;
    float* d_sortino = nullptr;
    cudaMalloc(&d_returns, total * sizeof(float));
    cudaMalloc(&d_risk_free, sizeof(float) * DAYS);
    cudaMalloc(&d_sharpe, size_bytes);
    cudaMalloc(&d_sortino, size_bytes);
    cudaMemcpy(d_returns, h_returns, total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_risk_free, h_risk_free, sizeof(float) * DAYS, cudaMemcpyHostToDevice);

    fund_ratios<<<FUNDS, BLOCK>>>(d_returns, d_risk_free, d_sharpe, d_sortino, DAYS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure" << std::endl;
        return 1;
    }

    cudaMemcpy(h_sharpe, d_sharpe, size_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_sortino, d_sortino, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/sharpe.bin", h_sharpe, FUNDS);
    write_binary("data/sortino.bin", h_sortino, FUNDS);

    cudaFree(d_returns);
    cudaFree(d_risk_free);
    cudaFree(d_sharpe);
    cudaFree(d_sortino);
    delete[] h_returns;
    delete[] h_risk_free;
    delete[] h_sharpe;
    delete[] h_sortino;
    return 0;
}
