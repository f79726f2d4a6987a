constexpr int N = 9000;
constexpr int GROUPS = 100;

__global__ void init(int* low, int* high, int groups) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < groups) {
        low[g] = 2147483647;
        high[g] = -2147483647 - 1;
    }
}

__global__ void extremes(const int* value, const int* label, const int* sign, int* low, int* high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int g = label[i];
        int v = value[i] * sign[g];
        atomicMin(&low[g], v);
        atomicMax(&high[g], v);
    }
}

int main() {
    int* h_value = new int[N];
    read_binary("data/value.bin", reinterpret_cast<float*>(h_value), N);
    int* h_label = new int[N];
    read_binary("data/label.bin", reinterpret_cast<float*>(h_label), N);
    int* h_sign = new int[GROUPS];
    read_binary("data/sign.bin", reinterpret_cast<float*>(h_sign), GROUPS);
    int* h_low = new int[GROUPS];
    int* h_high = new int[GROUPS];

    int* d_value;
    cudaMalloc(&d_value, N * sizeof(int));
    int* d_label;
    cudaMalloc(&d_label, N * sizeof(int));
    int* d_sign;
    cudaMalloc(&d_sign, GROUPS * sizeof(int));
    int* d_low;
    cudaMalloc(&d_low, GROUPS * sizeof(int));
    int* d_high;
    cudaMalloc(&d_high, GROUPS * sizeof(int));
    cudaMemcpy(d_value, h_value, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_label, h_label, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_sign, h_sign, GROUPS * sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 512;
    init<<<(GROUPS + threads - 1) / threads, threads>>>(d_low, d_high, GROUPS);
    extremes<<<(N + threads - 1) / threads, threads>>>(d_value, d_label, d_sign, d_low, d_high, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_low, d_low, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_high, d_high, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/low.bin", reinterpret_cast<const float*>(h_low), GROUPS);
    write_binary("data/high.bin", reinterpret_cast<const float*>(h_high), GROUPS);

    cudaFree(d_value);
    cudaFree(d_label);
    cudaFree(d_sign);
    cudaFree(d_low);
    cudaFree(d_high);
    delete[] h_value;
    delete[] h_label;
    delete[] h_sign;
    delete[] h_low;
    delete[] h_high;
    return 0;
}
