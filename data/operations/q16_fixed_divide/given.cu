constexpr int kN = 12000;

__global__ void fixed_divide(const int* num, const int* den, int* quotient, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        long long a = num[i];
        long long b = den[i];
        const long long high = 2147483647, low = -high - 1;
        long long q;
        if (b == 0) {
            q = a > 0 ? high : (a < 0 ? low : 0);
        } else {
            q = a * 65536 / b;
            if (q > high) q = high;
            if (q < low) q = low;
        }
        quotient[i] = (int)q;
    }
}

int main() {
    int* h_num = new int[kN];
    read_binary("data/num.bin", reinterpret_cast<float*>(h_num), kN);
    int* h_den = new int[kN];
    read_binary("data/den.bin", reinterpret_cast<float*>(h_den), kN);

    int* d_num = nullptr;
    cudaMalloc(&d_num, kN * sizeof(int));
    int* d_den = nullptr;
    cudaMalloc(&d_den, kN * sizeof(int));
    int* d_quotient = nullptr;
    cudaMalloc(&d_quotient, kN * sizeof(int));
    cudaMemcpy(d_num, h_num, kN * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_den, h_den, kN * sizeof(int), cudaMemcpyHostToDevice);

    const int block_size = 256;
    const int grid_size = (kN + block_size - 1) / block_size;
    fixed_divide<<<grid_size, block_size>>>(d_num, d_den, d_quotient, kN);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch error" << std::endl;
        return 1;
    }

    int* h_quotient = new int[kN];
    cudaMemcpy(h_quotient, d_quotient, kN * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/quotient.bin", reinterpret_cast<const float*>(h_quotient), kN);

    cudaFree(d_num);
    cudaFree(d_den);
    cudaFree(d_quotient);
    delete[] h_num;
    delete[] h_den;
    delete[] h_quotient;
    return 0;
}
