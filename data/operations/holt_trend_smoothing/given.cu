const int STEPS = 200;
const int SERIES = 120;

__global__ void holt(const float* x, const float* alpha, const float* beta, float* forecast, int steps,
                     int series) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= series) return;
    float a = alpha[k], b = beta[k];
    float level = x[k];
    float trend = x[series + k] - x[k];
    forecast[k] = x[k];
    for (int t = 1; t < steps; ++t) {
        size_t i = (size_t)t * series + k;
        float predicted = level + trend;
        forecast[i] = predicted;
        float next = a * x[i] + (1.0f - a) * predicted;
        trend = b * (next - level) + (1.0f - b) * trend;
        level = next;
    }
}

int main() {
    float* h_x = new float[STEPS * SERIES];
    read_binary("data/x.bin", h_x, STEPS * SERIES);
    float* d_x;
    cudaMalloc(&d_x, STEPS * SERIES * sizeof(float));
    cudaMemcpy(d_x, h_x, STEPS * SERIES * sizeof(float), cudaMemcpyHostToDevice);

    float* h_alpha = new float[SERIES];
    read_binary("data/alpha.bin", h_alpha, SERIES);
    float* d_alpha;
    cudaMalloc(&d_alpha, SERIES * sizeof(float));
    cudaMemcpy(d_alpha, h_alpha, SERIES * sizeof(float), cudaMemcpyHostToDevice);

    float* h_beta = new float[SERIES];
    read_binary("data/beta.bin", h_beta, SERIES);
    float* d_beta;
    cudaMalloc(&d_beta, SERIES * sizeof(float));
    cudaMemcpy(d_beta, h_beta, SERIES * sizeof(float), cudaMemcpyHostToDevice);

    float* h_forecast = new float[STEPS * SERIES];
    float* d_forecast;
    cudaMalloc(&d_forecast, STEPS * SERIES * sizeof(float));

    int threads = 64;
    int blocks = (SERIES + threads - 1) / threads;
    holt<<<blocks, threads>>>(d_x, d_alpha, d_beta, d_forecast, STEPS, SERIES);
    cudaDeviceSynchronize();

    cudaMemcpy(h_forecast, d_forecast, STEPS * SERIES * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/forecast.bin", h_forecast, STEPS * SERIES);

    cudaFree(d_x);
    cudaFree(d_alpha);
    cudaFree(d_beta);
    cudaFree(d_forecast);
    delete[] h_x;
    delete[] h_alpha;
    delete[] h_beta;
    delete[] h_forecast;
    return 0;
}
