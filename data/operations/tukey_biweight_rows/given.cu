const int ROWS = 50;
const int COLS = 300;

__global__ void biweight_rows(const float* residual, float* loss, int* outliers, int cols) {
    __shared__ float sums[256];
    __shared__ int counts[256];
    int t = threadIdx.x;
    const float* row = residual + (size_t)blockIdx.x * cols;
    const float c = 4.0f;
    float sum = 0.0f;
    int count = 0;
    for (int j = t; j < cols; j += 256) {
        float u = row[j] / c;
        if (fabsf(u) <= 1.0f) {
            float q = 1.0f - u * u;
            sum += c * c / 6.0f * (1.0f - q * q * q);
        } else {
            sum += c * c / 6.0f;
            ++count;
        }
    }
    sums[t] = sum;
    counts[t] = count;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            sums[t] += sums[t + s];
            counts[t] += counts[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        loss[blockIdx.x] = sums[0];
        outliers[blockIdx.x] = counts[0];
    }
}

int main() {
    float* h_residual = new float[ROWS * COLS];
    read_binary("data/residual.bin", h_residual, ROWS * COLS);

    float* d_residual = nullptr;
    float* d_loss = nullptr;
    int* d_outliers = nullptr;
    cudaMalloc(&d_residual, ROWS * COLS * sizeof(float));
    cudaMemcpy(d_residual, h_residual, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_loss, ROWS * sizeof(float));
    cudaMalloc(&d_outliers, ROWS * sizeof(int));

    dim3 block(256);
    dim3 grid(ROWS);
    biweight_rows<<<grid, block>>>(d_residual, d_loss, d_outliers, COLS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA error\n";
        return 1;
    }
    cudaDeviceSynchronize();

    float* h_loss = new float[ROWS];
    int* h_outliers = new int[ROWS];
    cudaMemcpy(h_loss, d_loss, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_outliers, d_outliers, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, ROWS);
    write_binary("data/outliers.bin", reinterpret_cast<const float*>(h_outliers), ROWS);

    delete[] h_residual;
    delete[] h_loss;
    delete[] h_outliers;
    cudaFree(d_residual);
    cudaFree(d_loss);
    cudaFree(d_outliers);
    return 0;
}
