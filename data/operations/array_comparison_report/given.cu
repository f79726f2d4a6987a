const int N = 20000;

// report[1] and report[2] start at a large number, worst at 0.
__global__ void start_values(int* report, float* worst) {
    report[0] = 0;
    report[1] = 0x7fffffff;
    report[2] = 0x7fffffff;
    worst[0] = 0.0f;
}

__global__ void count_mismatches(const float* a, const float* b, int* report, float* worst, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float diff = fabsf(a[i] - b[i]);
    if (diff > 0.25f + 0.125f * fabsf(b[i])) {
        atomicAdd(&report[0], 1);
        atomicMin(&report[1], i);
    }
    atomicMax(reinterpret_cast<int*>(worst), __float_as_int(diff));
}

__global__ void locate_worst(const float* a, const float* b, int* report, const float* worst, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (fabsf(a[i] - b[i]) == worst[0]) atomicMin(&report[2], i);
    if (i == 0 && report[0] == 0) report[1] = -1;
}

int main() {
    float* h_a = new float[N];
    read_binary("data/a.bin", h_a, N);
    float* d_a = nullptr;
    cudaMalloc((void**)&d_a, N * sizeof(float));
    cudaMemcpy(d_a, h_a, N * sizeof(float), cudaMemcpyHostToDevice);

    float* h_b = new float[N];
    read_binary("data/b.bin", h_b, N);
    float* d_b = nullptr;
    cudaMalloc((void**)&d_b, N * sizeof(float));
    cudaMemcpy(d_b, h_b, N * sizeof(float), cudaMemcpyHostToDevice);

    int* h_report = new int[3];
    int* d_report = nullptr;
    cudaMalloc((void**)&d_report, 3 * sizeof(int));
    float* h_worst = new float[1];
    float* d_worst = nullptr;
    cudaMalloc((void**)&d_worst, sizeof(float));

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    start_values<<<1, 1>>>(d_report, d_worst);
    count_mismatches<<<blocks, threads>>>(d_a, d_b, d_report, d_worst, N);
    locate_worst<<<blocks, threads>>>(d_a, d_b, d_report, d_worst, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_report, d_report, 3 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_worst, d_worst, sizeof(float), cudaMemcpyDeviceToHost);

    write_binary("data/report.bin", reinterpret_cast<float*>(h_report), 3);
    write_binary("data/worst.bin", h_worst, 1);

    delete[] h_a;
    delete[] h_b;
    delete[] h_report;
    delete[] h_worst;
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_report);
    cudaFree(d_worst);
    return 0;
}
