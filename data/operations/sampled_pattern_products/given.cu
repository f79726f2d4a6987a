constexpr int kRows = 300;
constexpr int kCols = 400;
constexpr int kRank = 16;
constexpr int kEntries = 3000;

__global__ void sampled_dot(const float* left, const float* right, const int* row, const int* col,
                            const float* value, float* product, int entries, int rank) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    const float* a = left + row[k] * rank;
    const float* b = right + col[k] * rank;
    float sum = 0.0f;
    for (int j = 0; j < rank; ++j) sum += a[j] * b[j];
    product[k] = value[k] * sum;
}

int main() {
    const int left_total = kRows * kRank;
    const int right_size = kCols * kRank;
    float* h_left = new float[left_total];
    read_binary("data/left.bin", h_left, left_total);
    float* d_left;
    cudaMalloc(&d_left, left_total * sizeof(float));
    cudaMemcpy(d_left, h_left, left_total * sizeof(float), cudaMemcpyHostToDevice);

    float* h_right = new float[right_size];
    read_binary("data/right.bin", h_right, right_size);
    float* d_right;
    cudaMalloc(&d_right, right_size * sizeof(float));
    cudaMemcpy(d_right, h_right, right_size * sizeof(float), cudaMemcpyHostToDevice);

    int* h_row = new int[kEntries];
    read_binary("data/row.bin", reinterpret_cast<float*>(h_row), kEntries);
    int* d_row;
    cudaMalloc(&d_row, sizeof(int) * kEntries);
    cudaMemcpy(d_row, h_row, sizeof(int) * kEntries, cudaMemcpyHostToDevice);

    int* h_col = new int[kEntries];
    read_binary("data/col.bin", reinterpret_cast<float*>(h_col), kEntries);
    int* d_col;
    cudaMalloc(&d_col, sizeof(int) * kEntries);
    cudaMemcpy(d_col, h_col, sizeof(int) * kEntries, cudaMemcpyHostToDevice);

    float* h_value = new float[kEntries];
    read_binary("data/value.bin", h_value, kEntries);
    float* d_value;
    cudaMalloc(&d_value, sizeof(float) * kEntries);
    cudaMemcpy(d_value, h_value, sizeof(float) * kEntries, cudaMemcpyHostToDevice);

    float* h_product = new float[kEntries];
    float* d_product;
    cudaMalloc(&d_product, sizeof(float) * kEntries);

    int threadsPerBlock = 256;
    int blocksPerGrid = (kEntries + threadsPerBlock - 1) / threadsPerBlock;
    sampled_dot<<<blocksPerGrid, threadsPerBlock>>>(d_left, d_right, d_row, d_col, d_value, d_product,
                                                    kEntries, kRank);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_product, d_product, sizeof(float) * kEntries, cudaMemcpyDeviceToHost);
    write_binary("data/product.bin", h_product, kEntries);

    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_row);
    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_product);
    delete[] h_left;
    delete[] h_right;
    delete[] h_row;
    delete[] h_col;
    delete[] h_value;
    delete[] h_product;
    return 0;
}
