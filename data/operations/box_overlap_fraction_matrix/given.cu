constexpr int kRows = 100;
constexpr int kCols = 150;

__global__ void overlap_fraction(const float* left, const float* right, float* fraction, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    const float* a = left + i * 6;
    const float* b = right + j * 6;
    float common = 1.0f, volume_a = 1.0f, volume_b = 1.0f;
    for (int k = 0; k < 3; ++k) {
        float low = fmaxf(a[k], b[k]);
        float high = fminf(a[k] + a[3 + k], b[k] + b[3 + k]);
        common *= fmaxf(high - low, 0.0f);
        volume_a *= a[3 + k];
        volume_b *= b[3 + k];
    }
    fraction[i * cols + j] = common / fminf(volume_a, volume_b);
}

int main() {
    const int fraction_total = kRows * kCols;

    float* h_left = new float[kRows * 6];
    read_binary("data/left.bin", h_left, kRows * 6);
    float* h_right = new float[kCols * 6];
    read_binary("data/right.bin", h_right, kCols * 6);
    float* h_fraction = new float[fraction_total];

    float* d_left = nullptr;
    float* d_right = nullptr;
    float* d_fraction = nullptr;
    cudaMalloc(&d_left, sizeof(float) * kRows * 6);
    cudaMalloc(&d_right, sizeof(float) * kCols * 6);
    cudaMalloc(&d_fraction, fraction_total * sizeof(float));
    cudaMemcpy(d_left, h_left, sizeof(float) * kRows * 6, cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, h_right, sizeof(float) * kCols * 6, cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kCols + block.x - 1) / block.x, (kRows + block.y - 1) / block.y);
    overlap_fraction<<<grid, block>>>(d_left, d_right, d_fraction, kRows, kCols);
    cudaDeviceSynchronize();

    cudaMemcpy(h_fraction, d_fraction, fraction_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/fraction.bin", h_fraction, fraction_total);

    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_fraction);
    delete[] h_left;
    delete[] h_right;
    delete[] h_fraction;
    return 0;
}
