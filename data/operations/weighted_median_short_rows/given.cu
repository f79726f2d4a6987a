const int kRows = 150;
const int kWidth = 45;
const int kBlock = 128;

__global__ void weighted_median(const float* x, const int* weight, float* median) {
    __shared__ float value[kWidth];
    __shared__ int w[kWidth];
    __shared__ float best[kBlock];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * kWidth;
    for (int i = t; i < kWidth; i += kBlock) {
        value[i] = x[base + i];
        w[i] = weight[base + i];
    }
    __syncthreads();
    float smallest = FLT_MAX;
    for (int i = t; i < kWidth; i += kBlock) {
        int below = 0, total = 0;
        for (int j = 0; j < kWidth; ++j) {
            total += w[j];
            if (value[j] <= value[i]) below += w[j];
        }
        if (2 * below >= total) smallest = fminf(smallest, value[i]);
    }
    best[t] = smallest;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) best[t] = fminf(best[t], best[t + s]);
        __syncthreads();
    }
    if (t == 0) median[blockIdx.x] = best[0];
}

int main() {
    std::vector<float> h_x(kRows * kWidth);
    std::vector<int> h_weight(kRows * kWidth);
    std::vector<float> h_median(kRows);

    read_binary("data/x.bin", h_x.data(), kRows * kWidth);
    read_binary("data/weight.bin", reinterpret_cast<float*>(h_weight.data()), kRows * kWidth);

    float* d_x;
    int* d_weight;
    float* d_median;
    cudaMalloc(&d_x, sizeof(float) * kRows * kWidth);
    cudaMalloc(&d_weight, sizeof(int) * kRows * kWidth);
    cudaMalloc(&d_median, sizeof(float) * kRows);

    cudaMemcpy(d_x, h_x.data(), sizeof(float) * kRows * kWidth, cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), sizeof(int) * kRows * kWidth, cudaMemcpyHostToDevice);

    const int blocks = kRows;
    weighted_median<<<blocks, kBlock>>>(d_x, d_weight, d_median);
    cudaDeviceSynchronize();

    cudaMemcpy(h_median.data(), d_median, sizeof(float) * kRows, cudaMemcpyDeviceToHost);
    write_binary("data/median.bin", h_median.data(), kRows);
    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_median);
    return 0;
}
