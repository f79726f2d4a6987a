constexpr int ROWS = 200;
constexpr int WIDTH = 50;

__global__ void gini_rows(const float* income, float* gini, int width) {
    __shared__ float differences[128];
    __shared__ float totals[128];
    const float* row = income + (size_t)blockIdx.x * width;
    int t = threadIdx.x;
    float difference = 0.0f;
    float total = 0.0f;
    for (int i = t; i < width; i += 128) {
        total += row[i];
        for (int j = 0; j < width; ++j) difference += fabsf(row[i] - row[j]);
    }
    differences[t] = difference;
    totals[t] = total;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) {
            differences[t] += differences[t + s];
            totals[t] += totals[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        float sum = totals[0];
        gini[blockIdx.x] = sum > 0.0f ? differences[0] / (2.0f * width * sum) : 0.0f;
    }
}

int main() {
    const size_t numel = ROWS * WIDTH;

    std::vector<float> h_income(numel);
    std::vector<float> h_gini(ROWS);
    read_binary("data/income.bin", h_income.data(), numel);

    float* d_income = nullptr;
    float* d_gini = nullptr;
    cudaMalloc(&d_income, numel * sizeof(float));
    cudaMalloc(&d_gini, sizeof(float) * ROWS);
    cudaMemcpy(d_income, h_income.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    gini_rows<<<ROWS, 128>>>(d_income, d_gini, WIDTH);
    cudaDeviceSynchronize();

    cudaMemcpy(h_gini.data(), d_gini, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/gini.bin", h_gini.data(), ROWS);

    cudaFree(d_income);
    cudaFree(d_gini);
    return 0;
}
