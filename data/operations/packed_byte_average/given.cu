#define N 18000

__global__ void average_bytes(const unsigned int* a, const unsigned int* b,
                              unsigned int* mean, unsigned int* diff, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int averages = 0, differences = 0;
    for (int k = 0; k < 4; ++k) {
        unsigned int x = (a[i] >> (8 * k)) & 0xff;
        unsigned int y = (b[i] >> (8 * k)) & 0xff;
        unsigned int d = x > y ? x - y : y - x;
        averages |= ((x + y + 1) / 2) << (8 * k);
        differences |= d << (8 * k);
    }
    mean[i] = averages;
    diff[i] = differences;
}

int main() {
    unsigned int* h_a = new unsigned int[N];
    unsigned int* h_b = new unsigned int[N];
    unsigned int* h_mean = new unsigned int[N];
    unsigned int* h_diff = new unsigned int[N];
    read_binary("data/a.bin", reinterpret_cast<float*>(h_a), N);
    read_binary("data/b.bin", reinterpret_cast<float*>(h_b), N);

    unsigned int* d_a = nullptr;
    cudaMalloc(&d_a, N * sizeof(unsigned int));
    cudaMemcpy(d_a, h_a, N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    unsigned int* d_b = nullptr;
    cudaMalloc(&d_b, N * sizeof(unsigned int));
    cudaMemcpy(d_b, h_b, N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    unsigned int* d_mean = nullptr;
    cudaMalloc(&d_mean, N * sizeof(unsigned int));
    unsigned int* d_diff = nullptr;
    cudaMalloc(&d_diff, N * sizeof(unsigned int));

    const int threads = 512;
    average_bytes<<<(N + threads - 1) / threads, threads>>>(d_a, d_b, d_mean, d_diff, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "packed kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_mean, d_mean, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/mean.bin", reinterpret_cast<const float*>(h_mean), N);
    cudaMemcpy(h_diff, d_diff, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/diff.bin", reinterpret_cast<const float*>(h_diff), N);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_mean);
    cudaFree(d_diff);
    delete[] h_a;
    delete[] h_b;
    delete[] h_mean;
    delete[] h_diff;
    return 0;
}
