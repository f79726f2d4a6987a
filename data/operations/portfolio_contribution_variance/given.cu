constexpr int PORTFOLIOS = 100;
constexpr int ASSETS = 40;
constexpr int BLOCK = 128;

__global__ void portfolio_risk(const float* weights, const float* covariance,
                               float* volatility, float* contribution) {
    __shared__ float w[ASSETS];
    __shared__ float sums[BLOCK];
    int t = threadIdx.x;
    size_t row = (size_t)blockIdx.x * ASSETS;
    for (int j = t; j < ASSETS; j += BLOCK) w[j] = weights[row + j];
    __syncthreads();
    float sum = 0.0f;
    for (int j = t; j < ASSETS; j += BLOCK) {
        float g = 0.0f;
        for (int k = 0; k < ASSETS; ++k) g += covariance[j * ASSETS + k] * w[k];
        contribution[row + j] = w[j] * g;
        sum += w[j] * g;
    }
    sums[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    float variance = sums[0];
    for (int j = t; j < ASSETS; j += BLOCK) contribution[row + j] /= variance;
    if (t == 0) volatility[blockIdx.x] = sqrtf(variance);
}

int main() {
    const size_t size = PORTFOLIOS * ASSETS;
    const size_t size_bytes = size * sizeof(float);

    std::vector<float> h_weights(size);
    std::vector<float> h_covariance(ASSETS * ASSETS);
    std::vector<float> h_volatility(PORTFOLIOS);
    std::vector<float> h_contribution(size);

    read_binary("data/weights.bin", h_weights.data(), size);
    read_binary("data/covariance.bin", h_covariance.data(), ASSETS * ASSETS);

    float* d_weights;
    float* d_covariance;
    float* d_volatility;
    float* d_contribution;
    cudaMalloc(&d_weights, size_bytes);
    cudaMalloc(&d_covariance, ASSETS * ASSETS * sizeof(float));
    cudaMalloc(&d_volatility, PORTFOLIOS * sizeof(float));
    cudaMalloc(&d_contribution, size_bytes);

    cudaMemcpy(d_weights, h_weights.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_covariance, h_covariance.data(), ASSETS * ASSETS * sizeof(float), cudaMemcpyHostToDevice);

    portfolio_risk<<<PORTFOLIOS, BLOCK>>>(d_weights, d_covariance, d_volatility, d_contribution);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_volatility.data(), d_volatility, PORTFOLIOS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/volatility.bin", h_volatility.data(), PORTFOLIOS);
    cudaMemcpy(h_contribution.data(), d_contribution, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/contribution.bin", h_contribution.data(), size);

    cudaFree(d_weights);
    cudaFree(d_covariance);
    cudaFree(d_volatility);
    cudaFree(d_contribution);
    return 0;
}
