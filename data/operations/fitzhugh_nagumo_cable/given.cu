#define CABLES 40
#define CELLS 100
#define STEPS 16

// One block a cable: the old voltages of all its cells are kept in shared memory during a step.
__global__ void run_cable(const float* voltage, const float* recovery, float* new_voltage, float* new_recovery) {
    __shared__ float v[CELLS];
    __shared__ float w[CELLS];
    __shared__ float next[CELLS];
    size_t base = (size_t)blockIdx.x * CELLS;
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) {
        v[i] = voltage[base + i];
        w[i] = recovery[base + i];
    }
    __syncthreads();
    for (int step = 0; step < STEPS; ++step) {
        for (int i = threadIdx.x; i < CELLS; i += blockDim.x) {
            float x = v[i];
            float left = i > 0 ? v[i - 1] : x;
            float right = i < CELLS - 1 ? v[i + 1] : x;
            float change = x - x * x * x / 3.0f - w[i] + 0.4f + 2.0f * (left - 2.0f * x + right);
            next[i] = x + 0.05f * change;
            w[i] += 0.05f * 0.08f * (x + 0.7f - 0.8f * w[i]);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < CELLS; i += blockDim.x) v[i] = next[i];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) {
        new_voltage[base + i] = v[i];
        new_recovery[base + i] = w[i];
    }
}

int main() {
    const int count = CABLES * CELLS;

    float* h_voltage = new float[count];
    read_binary("data/voltage.bin", h_voltage, count);
    float* h_recovery = new float[count];
    read_binary("data/recovery.bin", h_recovery, count);
    float* h_new_voltage = new float[count];
    float* h_new_recovery = new float[count];

    float* d_voltage = nullptr;
    float* d_recovery = nullptr;
    float* d_new_voltage = nullptr;
    float* d_new_recovery = nullptr;
    cudaMalloc(&d_voltage, count * sizeof(float));
    cudaMalloc(&d_recovery, count * sizeof(float));
    cudaMalloc(&d_new_voltage, count * sizeof(float));
    cudaMalloc(&d_new_recovery, count * sizeof(float));
    cudaMemcpy(d_voltage, h_voltage, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_recovery, h_recovery, count * sizeof(float), cudaMemcpyHostToDevice);

    run_cable<<<CABLES, 128>>>(d_voltage, d_recovery, d_new_voltage, d_new_recovery);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_new_voltage, d_new_voltage, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_new_recovery, d_new_recovery, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/new_voltage.bin", h_new_voltage, count);
    write_binary("data/new_recovery.bin", h_new_recovery, count);

    cudaFree(d_voltage);
    delete[] h_voltage;
    cudaFree(d_recovery);
    delete[] h_recovery;
    cudaFree(d_new_voltage);
    delete[] h_new_voltage;
    cudaFree(d_new_recovery);
    delete[] h_new_recovery;
    return 0;
}
