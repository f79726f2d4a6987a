constexpr int N = 8000;

__global__ void restart_schedule(const int* step, float* rate, int* cycle, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = step[i];
    if (s < 500) {
        rate[i] = 0.1f * (float)(s + 1) / 500.0f;
        cycle[i] = -1;
        return;
    }
    int position = s - 500;
    int length = 1000;
    int c = 0;
    float peak = 0.1f;
    while (position >= length) {
        position -= length;
        length *= 2;
        peak *= 0.8f;
        ++c;
    }
    float angle = 3.14159265f * (float)position / (float)length;
    rate[i] = 0.001f + 0.5f * (peak - 0.001f) * (1.0f + cosf(angle));
    cycle[i] = c;
}

int main() {
    const size_t size_bytes = N * sizeof(int);

    std::vector<int> h_step(N);
    read_binary("data/step.bin", reinterpret_cast<float*>(h_step.data()), N);
    std::vector<float> h_rate(N);
    std::vector<int> h_cycle(N);

    int* d_step = nullptr;
    float* d_rate = nullptr;
    int* d_cycle = nullptr;
    cudaMalloc(&d_step, size_bytes);
    cudaMemcpy(d_step, h_step.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_rate, N * sizeof(float));
    cudaMalloc(&d_cycle, size_bytes);

    int threadsPerBlock = 512;
    int blocksPerGrid = (N + threadsPerBlock - 1) / threadsPerBlock;
    restart_schedule<<<blocksPerGrid, threadsPerBlock>>>(d_step, d_rate, d_cycle, N);

    cudaMemcpy(h_rate.data(), d_rate, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/rate.bin", h_rate.data(), N);
    cudaMemcpy(h_cycle.data(), d_cycle, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/cycle.bin", reinterpret_cast<float*>(h_cycle.data()), N);

    cudaFree(d_step);
    cudaFree(d_rate);
    cudaFree(d_cycle);
    return 0;
}
