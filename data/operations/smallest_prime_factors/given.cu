#define N 3000

__global__ void prime_factors(const int* numbers, int* smallest, int* factor_count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int rest = numbers[i];
        int first = 1;
        int factors = 0;
        for (int p = 2; p * p <= rest; ++p) {
            while (rest % p == 0) {
                if (factors == 0) first = p;
                rest /= p;
                ++factors;
            }
        }
        if (rest > 1) {
            if (factors == 0) first = rest;
            ++factors;
        }
        smallest[i] = first;
        factor_count[i] = factors;
    }
}

int main() {
    std::vector<int> h_numbers(N);
    read_binary("data/numbers.bin", reinterpret_cast<float*>(h_numbers.data()), N);

    int* d_numbers;
    int* d_smallest;
    int* d_factor_count;
    cudaMalloc(&d_numbers, N * sizeof(int));
    cudaMemcpy(d_numbers, h_numbers.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_smallest, N * sizeof(int));
    cudaMalloc(&d_factor_count, N * sizeof(int));

    prime_factors<<<(N + 255) / 256, 256>>>(d_numbers, d_smallest, d_factor_count, N);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }

    std::vector<int> h_smallest(N);
    cudaMemcpy(h_smallest.data(), d_smallest, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/smallest.bin", reinterpret_cast<const float*>(h_smallest.data()), N);
    std::vector<int> h_factor_count(N);
    cudaMemcpy(h_factor_count.data(), d_factor_count, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/factor_count.bin", reinterpret_cast<const float*>(h_factor_count.data()), N);

    cudaFree(d_numbers);
    cudaFree(d_smallest);
    cudaFree(d_factor_count);
    return 0;
}
