const int N = 20000;

__global__ void symlog_symexp(const float* x, const float* z, float* compressed, float* expanded, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        compressed[i] = copysignf(log1pf(fabsf(x[i])), x[i]);
        expanded[i] = copysignf(expm1f(fabsf(z[i])), z[i]);
    }
}

int main() {
    const size_t bytes = N * sizeof(float);

    std::vector<float> h_x(N);
    read_binary("data/x.bin", h_x.data(), N);
    std::vector<float> h_z(N);
    read_binary("data/z.bin", h_z.data(), N);

    float* d_x = nullptr;
    cudaMalloc(&d_x, bytes);
    float* d_z = nullptr;
    cudaMalloc(&d_z, bytes);
    float* d_compressed = nullptr;
    cudaMalloc(&d_compressed, bytes);
    float* d_expanded = nullptr;
    cudaMalloc(&d_expanded, bytes);

    cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_z, h_z.data(), bytes, cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((N + block.x - 1) / block.x);
    symlog_symexp<<<grid, block>>>(d_x, d_z, d_compressed, d_expanded, N);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::vector<float> h_compressed(N);
    std::vector<float> h_expanded(N);
    cudaMemcpy(h_compressed.data(), d_compressed, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/compressed.bin", h_compressed.data(), N);
    cudaMemcpy(h_expanded.data(), d_expanded, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/expanded.bin", h_expanded.data(), N);
    cudaFree(d_x);
    cudaFree(d_z);
    cudaFree(d_compressed);
    cudaFree(d_expanded);
    return 0;
}
