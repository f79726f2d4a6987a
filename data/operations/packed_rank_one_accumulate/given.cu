constexpr int kSamples = 200;
constexpr int kN = 24;

__global__ void add_outer_products(const float* packed, const float* x, const float* weight,
                                   float* result, int samples, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    if (j < i || j >= n) return;
    float sum = 0.0f;
    for (int s = 0; s < samples; ++s) {
        sum += weight[s] * x[s * n + i] * x[s * n + j];
    }
    int at = i * n - i * (i - 1) / 2 + (j - i);
    result[at] = packed[at] + sum;
}

int main() {
    const int cells = kN * (kN + 1) / 2;
    const size_t x_total = kSamples * kN;
    const size_t bytes = cells * sizeof(float);

    float* h_packed = new float[cells];
    float* h_x = new float[x_total];
    float* h_weight = new float[kSamples];
    float* h_result = new float[cells];

    read_binary("data/packed.bin", h_packed, cells);
    read_binary("data/x.bin", h_x, x_total);
    read_binary("data/weight.bin", h_weight, kSamples);

    float* d_packed = nullptr;
    float* d_x = nullptr;
    float* d_weight = nullptr;
    float* d_result = nullptr;
    cudaMalloc(&d_packed, bytes);
    cudaMalloc(&d_x, x_total * sizeof(float));
    cudaMalloc(&d_weight, kSamples * sizeof(float));
    cudaMalloc(&d_result, bytes);

    cudaMemcpy(d_packed, h_packed, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x, x_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, kSamples * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 64;
    dim3 grid((kN + block - 1) / block, kN);
    add_outer_products<<<grid, block>>>(d_packed, d_x, d_weight, d_result, kSamples, kN);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure" << std::endl;
        return 1;
    }

    cudaMemcpy(h_result, d_result, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/result.bin", h_result, cells);

    cudaFree(d_packed);
    delete[] h_packed;
    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_weight);
    delete[] h_weight;
    cudaFree(d_result);
    delete[] h_result;
    return 0;
}
