const int PAIRS = 50;
const int DAYS = 260;
const int THREADS = 256;

__device__ float block_sum(float value, float* buffer) {
    int t = threadIdx.x;
    buffer[t] = value;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) buffer[t] += buffer[t + s];
        __syncthreads();
    }
    float total = buffer[0];
    __syncthreads();
    return total;
}

__global__ void pair_statistics(const float* first, const float* second, float* covariance,
                                float* correlation, float* beta, int days) {
    __shared__ float buffer[THREADS];
    const float* a = first + blockIdx.x * days;
    const float* b = second + blockIdx.x * days;
    int returns = days - 1;
    float sx = 0.0f, sy = 0.0f;
    for (int t = threadIdx.x + 1; t < days; t += THREADS) {
        sx += logf(a[t] / a[t - 1]);
        sy += logf(b[t] / b[t - 1]);
    }
    float mean_x = block_sum(sx, buffer) / returns;
    float mean_y = block_sum(sy, buffer) / returns;
    float xx = 0.0f, yy = 0.0f, xy = 0.0f;
    for (int t = threadIdx.x + 1; t < days; t += THREADS) {
        float x = logf(a[t] / a[t - 1]) - mean_x;
        float y = logf(b[t] / b[t - 1]) - mean_y;
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    xx = block_sum(xx, buffer);
    yy = block_sum(yy, buffer);
    xy = block_sum(xy, buffer);
    if (threadIdx.x == 0) {
        covariance[blockIdx.x] = xy / (returns - 1);
        correlation[blockIdx.x] = xy / sqrtf(xx * yy);
        beta[blockIdx.x] = xy / xx;
    }
}

int main() {
    const size_t total = PAIRS * DAYS;
    const size_t size_bytes = PAIRS * sizeof(float);
    float* h_first = new float[total];
    float* h_second = new float[total];
    read_binary("data/first.bin", h_first, total);
    read_binary("data/second.bin", h_second, total);
    float* d_first = nullptr;
    float* d_second = nullptr;
    float* d_covariance = nullptr;
    float* d_correlation = nullptr;
    float* d_beta = nullptr;
    cudaMalloc(&d_first, total * sizeof(float));
    cudaMalloc(&d_second, total * sizeof(float));
    cudaMalloc(&d_covariance, size_bytes);
    cudaMalloc(&d_correlation, size_bytes);
    cudaMalloc(&d_beta, size_bytes);
    cudaMemcpy(d_first, h_first, total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second, total * sizeof(float), cudaMemcpyHostToDevice);

    pair_statistics<<<PAIRS, THREADS>>>(d_first, d_second, d_covariance, d_correlation, d_beta, DAYS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "error\n";
        return 1;
    }
    cudaDeviceSynchronize();

    float* h_covariance = new float[PAIRS];
    cudaMemcpy(h_covariance, d_covariance, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/covariance.bin", h_covariance, PAIRS);
    float* h_correlation = new float[PAIRS];
    cudaMemcpy(h_correlation, d_correlation, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/correlation.bin", h_correlation, PAIRS);
    float* h_beta = new float[PAIRS];
    cudaMemcpy(h_beta, d_beta, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/beta.bin", h_beta, PAIRS);

    cudaFree(d_first);
    delete[] h_first;
    cudaFree(d_second);
    delete[] h_second;
    cudaFree(d_covariance);
    delete[] h_covariance;
    cudaFree(d_correlation);
    delete[] h_correlation;
    cudaFree(d_beta);
    delete[] h_beta;
    return 0;
}
