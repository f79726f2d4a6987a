constexpr int kN = 5000;

__global__ void digit_kernel(const int* numbers, int* digit_sum, int* reversed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int rest = abs(numbers[i]);
        int sum = 0, back = 0;
        while (rest > 0) {
            int digit = rest % 10;
            sum += digit;
            back = back * 10 + digit;
            rest /= 10;
        }
        digit_sum[i] = sum;
        reversed[i] = numbers[i] < 0 ? -back : back;
    }
}

int main() {
    int* h_numbers = new int[kN];
    read_binary("data/numbers.bin", reinterpret_cast<float*>(h_numbers), kN);
    int* d_numbers;
    cudaMalloc(&d_numbers, kN * sizeof(int));
    cudaMemcpy(d_numbers, h_numbers, kN * sizeof(int), cudaMemcpyHostToDevice);

    int* h_digit_sum = new int[kN];
    int* d_digit_sum;
    cudaMalloc(&d_digit_sum, kN * sizeof(int));
    int* h_reversed = new int[kN];
    int* d_reversed;
    cudaMalloc(&d_reversed, kN * sizeof(int));

    int threads = 512;
    int blocks = (kN + threads - 1) / threads;
    digit_kernel<<<blocks, threads>>>(d_numbers, d_digit_sum, d_reversed, kN);
    cudaDeviceSynchronize();

    cudaMemcpy(h_digit_sum, d_digit_sum, kN * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/digit_sum.bin", reinterpret_cast<const float*>(h_digit_sum), kN);
    cudaMemcpy(h_reversed, d_reversed, kN * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/reversed.bin", reinterpret_cast<const float*>(h_reversed), kN);

    delete[] h_numbers;
    delete[] h_digit_sum;
    delete[] h_reversed;
    cudaFree(d_numbers);
    cudaFree(d_digit_sum);
    cudaFree(d_reversed);
    return 0;
}
