constexpr int kBatch = 3;
constexpr int kN = 65;

__global__ void split_parts(const float* a, float* sym, float* skew, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    int base = blockIdx.z * n * n;
    float x = a[base + i * n + j];
    float y = a[base + j * n + i];
    sym[base + i * n + j] = 0.5f * (x + y);
    skew[base + i * n + j] = 0.5f * (x - y);
}

int main() {
    const int count = kBatch * kN * kN;

    std::vector<float> h_a(count);
    read_binary("data/a.bin", h_a.data(), count);
    float* d_a;
    cudaMalloc(&d_a, count * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_sym(count);
    float* d_sym;
    cudaMalloc(&d_sym, count * sizeof(float));
    std::vector<float> h_skew(count);
    float* d_skew;
    cudaMalloc(&d_skew, count * sizeof(float));

    dim3 block(16, 16);
    dim3 grid((kN + 15) / 16, (kN + 15) / 16, kBatch);
    split_parts<<<grid, block>>>(d_a, d_sym, d_skew, kN);
    cudaDeviceSynchronize();

    cudaMemcpy(h_sym.data(), d_sym, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_skew.data(), d_skew, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/sym.bin", h_sym.data(), count);
    write_binary("data/skew.bin", h_skew.data(), count);

    cudaFree(d_a);
    cudaFree(d_sym);
    cudaFree(d_skew);
    return 0;
}
