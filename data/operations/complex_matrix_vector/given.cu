#define ROWS 50
#define COLS 99
#define BLOCK 256

__global__ void complex_product(const float* a, const float* x, float* y, int cols) {
    __shared__ float re[BLOCK];
    __shared__ float im[BLOCK];
    int tid = threadIdx.x;
    int row = blockIdx.x;
    float real = 0.0f;
    float imag = 0.0f;
    for (int j = tid; j < cols; j += BLOCK) {
        float p = a[(row * cols + j) * 2];
        float q = a[(row * cols + j) * 2 + 1];
        float u = x[2 * j];
        float v = x[2 * j + 1];
        real += p * u + q * v;
        imag += q * u - p * v;
    }
    re[tid] = real;
    im[tid] = imag;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) {
            re[tid] += re[tid + s];
            im[tid] += im[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        y[2 * row] = re[0];
        y[2 * row + 1] = im[0];
    }
}

int main() {
    const size_t a_size = ROWS * COLS * 2;
    const size_t x_total = COLS * 2;
    const int y_total = ROWS * 2;

    float* h_a = new float[a_size];
    read_binary("data/a.bin", h_a, a_size);
    float* d_a = nullptr;
    cudaMalloc(&d_a, a_size * sizeof(float));
    cudaMemcpy(d_a, h_a, a_size * sizeof(float), cudaMemcpyHostToDevice);

    float* h_x = new float[x_total];
    read_binary("data/x.bin", h_x, x_total);
    float* d_x = nullptr;
    cudaMalloc(&d_x, x_total * sizeof(float));
    cudaMemcpy(d_x, h_x, x_total * sizeof(float), cudaMemcpyHostToDevice);

    float* h_y = new float[y_total];
    float* d_y = nullptr;
    cudaMalloc(&d_y, y_total * sizeof(float));

    complex_product<<<ROWS, BLOCK>>>(d_a, d_x, d_y, COLS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "complex kernel" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_y, d_y, y_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, y_total);

    cudaFree(d_a);
    cudaFree(d_x);
    cudaFree(d_y);
    delete[] h_a;
    delete[] h_x;
    delete[] h_y;
    return 0;
}
