static const int ROWS = 200;
static const int LENGTH = 24;

__global__ void dct_rows(const float* x, float* coefficients, int rows, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * length) return;
    int row = i / length;
    int k = i % length;
    float sum = 0.0f;
    for (int n = 0; n < length; n++) {
        int phase = (2 * n + 1) * k % (4 * length);
        sum += x[row * length + n] * cospif((float)phase / (2 * length));
    }
    float scale = k == 0 ? sqrtf(1.0f / length) : sqrtf(2.0f / length);
    coefficients[i] = scale * sum;
}

int main() {
    const int total = ROWS * LENGTH;

    float* h_x = new float[total];
    read_binary("data/x.bin", h_x, total);
    float* d_x;
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMemcpy(d_x, h_x, total * sizeof(float), cudaMemcpyHostToDevice);

    float* h_coefficients = new float[total];
    float* d_coefficients;
    cudaMalloc(&d_coefficients, total * sizeof(float));

    dim3 block(256);
    dim3 grid((total + 255) / 256);
    dct_rows<<<grid, block>>>(d_x, d_coefficients, ROWS, LENGTH);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_coefficients, d_coefficients, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/coefficients.bin", h_coefficients, total);

    cudaFree(d_x);
    cudaFree(d_coefficients);
    delete[] h_x;
    delete[] h_coefficients;
    return 0;
}
