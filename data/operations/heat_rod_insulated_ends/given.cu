constexpr int RODS = 40;
constexpr int CELLS = 300;
constexpr int STEPS = 12;

__global__ void heat_step(const float* temperature, const float* alpha, float* result, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int rod = blockIdx.y;
    if (i >= cells) return;
    const float* row = temperature + (size_t)rod * cells;
    float left = row[i > 0 ? i - 1 : 0];
    float right = row[i < cells - 1 ? i + 1 : cells - 1];
    result[(size_t)rod * cells + i] = row[i] + alpha[rod] * (left - 2.0f * row[i] + right);
}

int main() {
    size_t elements = static_cast<size_t>(RODS) * CELLS;

    float* h_temperature = new float[elements];
    read_binary("data/temperature.bin", h_temperature, elements);
    float* d_temperature;
    cudaMalloc(&d_temperature, elements * sizeof(float));
    cudaMemcpy(d_temperature, h_temperature, elements * sizeof(float), cudaMemcpyHostToDevice);

    float* h_alpha = new float[RODS];
    read_binary("data/alpha.bin", h_alpha, RODS);
    float* d_alpha;
    cudaMalloc(&d_alpha, RODS * sizeof(float));
    cudaMemcpy(d_alpha, h_alpha, RODS * sizeof(float), cudaMemcpyHostToDevice);

    float* h_result = new float[elements];
    float* d_result;
    cudaMalloc(&d_result, elements * sizeof(float));

    dim3 grid((CELLS + 255) / 256, RODS);
    for (int s = 0; s < STEPS; ++s) {
        if (s > 0) std::swap(d_temperature, d_result);
        heat_step<<<grid, 256>>>(d_temperature, d_alpha, d_result, CELLS);
    }
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_result, d_result, elements * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/result.bin", h_result, elements);
    cudaFree(d_temperature);
    cudaFree(d_alpha);
    cudaFree(d_result);
    delete[] h_temperature;
    delete[] h_alpha;
    delete[] h_result;
    return 0;
}
