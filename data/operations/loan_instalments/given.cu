#define N 10000

__global__ void loan_kernel(const float* principal, const float* rate, const int* months,
                            float* payment, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = rate[i] / 1200.0f;
    float count = (float)months[i];
    float pay = principal[i] / count;
    if (r > 0.0f) {
        float one_minus_power = -expm1f(-count * log1pf(r));
        pay = principal[i] * r / one_minus_power;
    }
    payment[i] = pay;
    total[i] = pay * count;
}

int main() {
    float* h_principal = new float[N];
    read_binary("data/principal.bin", h_principal, N);
    float* d_principal;
    cudaMalloc(&d_principal, N * sizeof(float));
    cudaMemcpy(d_principal, h_principal, N * sizeof(float), cudaMemcpyHostToDevice);

    float* h_rate = new float[N];
    read_binary("data/rate.bin", h_rate, N);
    float* d_rate;
    cudaMalloc(&d_rate, N * sizeof(float));
    cudaMemcpy(d_rate, h_rate, N * sizeof(float), cudaMemcpyHostToDevice);

    int* h_months = new int[N];
    read_binary("data/months.bin", reinterpret_cast<float*>(h_months), N);
    int* d_months;
    cudaMalloc(&d_months, N * sizeof(int));
    cudaMemcpy(d_months, h_months, N * sizeof(int), cudaMemcpyHostToDevice);

    float* h_payment = new float[N];
    float* d_payment;
    cudaMalloc(&d_payment, N * sizeof(float));
    float* h_total = new float[N];
    float* d_total;
    cudaMalloc(&d_total, N * sizeof(float));

    dim3 block(256);
    dim3 grid((N + block.x - 1) / block.x);
    loan_kernel<<<grid, block>>>(d_principal, d_rate, d_months, d_payment, d_total, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_payment, d_payment, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/payment.bin", h_payment, N);
    cudaMemcpy(h_total, d_total, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/total.bin", h_total, N);

    cudaFree(d_principal);
    cudaFree(d_rate);
    cudaFree(d_months);
    cudaFree(d_payment);
    cudaFree(d_total);
    delete[] h_principal;
    delete[] h_rate;
    delete[] h_months;
    delete[] h_payment;
    delete[] h_total;
    return 0;
}
