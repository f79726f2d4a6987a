const int DIAGONALS = 5;
const int N = 4000;

__global__ void multiply_diagonals(const int* offset, const float* band, const float* x, float* y,
                                   int diagonals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int d = 0; d < diagonals; ++d) {
        int j = i + offset[d];
        if (j < 0 || j >= n) continue;
        sum += band[d * n + i] * x[j];
    }
    y[i] = sum;
}

int main() {
    int* h_offset = new int[DIAGONALS];
    float* h_band = new float[DIAGONALS * N];
    float* h_x = new float[N];
    read_binary("data/offset.bin", reinterpret_cast<float*>(h_offset), DIAGONALS);
    read_binary("data/band.bin", h_band, DIAGONALS * N);
    read_binary("data/x.bin", h_x, N);

    int *d_offset;
    float *d_band, *d_x, *d_y;
    cudaMalloc(&d_offset, DIAGONALS * sizeof(int));
    cudaMalloc(&d_band, DIAGONALS * N * sizeof(float));
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMalloc(&d_y, N * sizeof(float));
    cudaMemcpy(d_offset, h_offset, DIAGONALS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_band, h_band, DIAGONALS * N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x, N * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 512;
    const int grid = (N + block - 1) / block;
    multiply_diagonals<<<grid, block>>>(d_offset, d_band, d_x, d_y, DIAGONALS, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_y = new float[N];
    cudaMemcpy(h_y, d_y, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, N);

    cudaFree(d_offset);
    cudaFree(d_band);
    cudaFree(d_x);
    cudaFree(d_y);
    delete[] h_offset;
    delete[] h_band;
    delete[] h_x;
    delete[] h_y;
    return 0;
}
