#define N 15000

__global__ void relative_error(const float* a, const float* b, float* error, unsigned char* close, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float diff = fabsf(a[i] - b[i]);
        float sum = fabsf(a[i]) + fabsf(b[i]);
        error[i] = sum == 0.0f ? 0.0f : 2.0f * diff / sum;
        close[i] = diff <= 0.0001f + 0.001f * fabsf(b[i]) ? 1 : 0;
    }
}

int main() {
    size_t size_bytes = N * sizeof(float);

    float* d_a;
    cudaMalloc(&d_a, size_bytes);
    float* d_b;
    cudaMalloc(&d_b, size_bytes);
    float* d_error;
    cudaMalloc(&d_error, size_bytes);
    unsigned char* d_close;
    cudaMalloc(&d_close, sizeof(unsigned char) * N);

    float* h_a = new float[N];
    read_binary("data/a.bin", h_a, N);
    cudaMemcpy(d_a, h_a, size_bytes, cudaMemcpyHostToDevice);
    float* h_b = new float[N];
    read_binary("data/b.bin", h_b, N);
    cudaMemcpy(d_b, h_b, size_bytes, cudaMemcpyHostToDevice);

    relative_error<<<(N + 255) / 256, 256>>>(d_a, d_b, d_error, d_close, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_error = new float[N];
    cudaMemcpy(h_error, d_error, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/error.bin", h_error, N);
    unsigned char* h_close = new unsigned char[N];
    cudaMemcpy(h_close, d_close, sizeof(unsigned char) * N, cudaMemcpyDeviceToHost);
    std::ofstream out("data/close.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_close), N);
    out.close();

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_error);
    cudaFree(d_close);

    delete[] h_a;
    delete[] h_b;
    delete[] h_error;
    delete[] h_close;
    return 0;
}
