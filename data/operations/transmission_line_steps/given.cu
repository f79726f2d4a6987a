constexpr int kLines = 20;
constexpr int kCells = 200;
constexpr int kLinks = kCells - 1;
constexpr int kSteps = 30;

__global__ void update_current(const float* voltage, float* current) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kLines * kLinks) return;
    int l = i / kLinks, k = i % kLinks;
    current[i] = 0.98f * current[i] - 0.5f * (voltage[l * kCells + k + 1] - voltage[l * kCells + k]);
}

__global__ void update_voltage(float* voltage, const float* current) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kLines * kCells) return;
    int l = i / kCells, k = i % kCells;
    float right = k < kLinks ? current[l * kLinks + k] : 0.0f;
    float left = k > 0 ? current[l * kLinks + k - 1] : 0.0f;
    voltage[i] = 0.995f * voltage[i] - 0.4f * (right - left);
}

int main() {
    const int total = kLines * kCells;
    const int current_size = kLines * kLinks;

    float* h_voltage = new float[total];
    read_binary("data/voltage.bin", h_voltage, total);
    float* h_current = new float[current_size];
    read_binary("data/current.bin", h_current, current_size);

    float* d_voltage = nullptr;
    float* d_current = nullptr;
    float* d_new_voltage = nullptr;
    float* d_new_current = nullptr;
    cudaMalloc(&d_voltage, total * sizeof(float));
    cudaMemcpy(d_voltage, h_voltage, total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_current, current_size * sizeof(float));
    cudaMemcpy(d_current, h_current, current_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_new_voltage, total * sizeof(float));
    cudaMalloc(&d_new_current, current_size * sizeof(float));

    cudaMemcpy(d_new_voltage, d_voltage, total * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(d_new_current, d_current, current_size * sizeof(float), cudaMemcpyDeviceToDevice);
    const int threads = 256;
    const int blocks = (total + threads - 1) / threads;
    for (int s = 0; s < kSteps; ++s) {
        update_current<<<blocks, threads>>>(d_new_voltage, d_new_current);
        update_voltage<<<blocks, threads>>>(d_new_voltage, d_new_current);
    }
    cudaDeviceSynchronize();

    float* h_new_voltage = new float[total];
    float* h_new_current = new float[current_size];
    cudaMemcpy(h_new_voltage, d_new_voltage, total * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_new_current, d_new_current, current_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/new_voltage.bin", h_new_voltage, total);
    write_binary("data/new_current.bin", h_new_current, current_size);

    cudaFree(d_voltage);
    cudaFree(d_current);
    cudaFree(d_new_voltage);
    cudaFree(d_new_current);
    delete[] h_voltage;
    delete[] h_current;
    delete[] h_new_voltage;
    delete[] h_new_current;
    return 0;
}
