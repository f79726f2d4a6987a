constexpr int kQueues = 60;
constexpr int kCustomers = 300;

__global__ void queue_waits(const int* service, const int* gap, int* wait, int queues, int customers) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queues) return;
    size_t base = (size_t)q * customers;
    int w = 0;
    wait[base] = 0;
    for (int n = 1; n < customers; ++n) {
        w += service[base + n - 1] - gap[base + n];
        if (w < 0) w = 0;
        wait[base + n] = w;
    }
}

int main() {
    size_t N = (size_t)kQueues * kCustomers;
    const size_t bytes = N * sizeof(int);

    std::vector<int> h_service(N);
    std::vector<int> h_gap(N);
    std::vector<int> h_wait(N);
    read_binary("data/service.bin", reinterpret_cast<float*>(h_service.data()), N);
    read_binary("data/gap.bin", reinterpret_cast<float*>(h_gap.data()), N);

    int* d_service = nullptr;
    int* d_gap = nullptr;
    int* d_wait = nullptr;
    cudaMalloc(&d_service, bytes);
    cudaMemcpy(d_service, h_service.data(), bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_gap, bytes);
    cudaMemcpy(d_gap, h_gap.data(), bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_wait, bytes);

    dim3 block(512);
    dim3 grid((kQueues + 512 - 1) / 512);
    queue_waits<<<grid, block>>>(d_service, d_gap, d_wait, kQueues, kCustomers);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_wait.data(), d_wait, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/wait.bin", reinterpret_cast<const float*>(h_wait.data()), N);
    cudaFree(d_service);
    cudaFree(d_gap);
    cudaFree(d_wait);

    return 0;
}
