const int N = 20000;

__global__ void split_kernel(const float* x, float* fraction, int* exponent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int e = 0;
        fraction[i] = frexpf(x[i], &e);
        exponent[i] = e;
    }
}

int main() {
    float* h_x = new float[N];
    read_binary("data/x.bin", h_x, N);
    float* h_fraction = new float[N];
    int* h_exponent = new int[N];

    float* d_x;
    float* d_fraction;
    int* d_exponent;
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMemcpy(d_x, h_x, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_fraction, N * sizeof(float));
    cudaMalloc(&d_exponent, N * sizeof(int));

    const int block = 256;
    const int grid = (N + block - 1) / block;
    split_kernel<<<grid, block>>>(d_x, d_fraction, d_exponent, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_fraction, d_fraction, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/fraction.bin", h_fraction, N);
    cudaMemcpy(h_exponent, d_exponent, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/exponent.bin", (float*)h_exponent, N);

    cudaFree(d_x);
    cudaFree(d_fraction);
    cudaFree(d_exponent);
    delete[] h_x;
    delete[] h_fraction;
    delete[] h_exponent;
    return 0;
}
