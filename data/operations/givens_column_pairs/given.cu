constexpr int kRows = 64;
constexpr int kPairs = 40;
constexpr int kCols = 2 * kPairs;

__global__ void rotate_pairs(const float* a, const int* columns, const float* theta, float* rotated,
                             int pairs, int cols) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (k >= pairs) return;
    int p = columns[2 * k];
    int q = columns[2 * k + 1];
    float c = cosf(theta[k]);
    float s = sinf(theta[k]);
    float ap = a[r * cols + p];
    float aq = a[r * cols + q];
    rotated[r * cols + p] = c * ap - s * aq;
    rotated[r * cols + q] = s * ap + c * aq;
}

int main() {
    const int length = kRows * kPairs * 2;
    const size_t size_bytes = length * sizeof(float);

    float* h_a = new float[length];
    read_binary("data/a.bin", h_a, length);
    int* h_columns = new int[kPairs * 2];
    read_binary("data/columns.bin", reinterpret_cast<float*>(h_columns), kPairs * 2);
    float* h_theta = new float[kPairs];
    read_binary("data/theta.bin", h_theta, kPairs);
    float* h_rotated = new float[length];

    float* d_a;
    int* d_columns;
    float* d_theta;
    float* d_rotated;
    cudaMalloc(&d_a, size_bytes);
    cudaMalloc(&d_columns, kPairs * 2 * sizeof(int));
    cudaMalloc(&d_theta, kPairs * sizeof(float));
    cudaMalloc(&d_rotated, size_bytes);
    cudaMemcpy(d_a, h_a, size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_columns, h_columns, kPairs * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_theta, h_theta, kPairs * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(64);
    dim3 grid((kPairs + 63) / 64, kRows);
    rotate_pairs<<<grid, block>>>(d_a, d_columns, d_theta, d_rotated, kPairs, kCols);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA error" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_rotated, d_rotated, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/rotated.bin", h_rotated, length);

    cudaFree(d_a);
    delete[] h_a;
    cudaFree(d_columns);
    delete[] h_columns;
    cudaFree(d_theta);
    delete[] h_theta;
    cudaFree(d_rotated);
    delete[] h_rotated;
    return 0;
}
