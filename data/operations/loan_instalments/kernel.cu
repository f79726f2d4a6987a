#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load_array(const std::string& path, T* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), count * sizeof(T));
    if (!file) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
}

template <typename T>
void save_array(const std::string& path, const T* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(T));
}
//@given

static const int N = 10000;

// Share of the principal that is paid each month
__device__ float monthly_share(float r, float m) {
    return r > 0.0f ? r / -expm1f(-m * log1pf(r)) : 1.0f / m;
}

__global__ void instalments_strided(const float* __restrict__ principal, const float* __restrict__ rate,
                                    const int* __restrict__ months, float* __restrict__ payment,
                                    float* __restrict__ total, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float m = __int2float_rn(months[i]);
        const float pay = principal[i] * monthly_share(rate[i] * (1.0f / 1200.0f), m);
        payment[i] = pay;
        total[i] = m * pay;
    }
}

int main() {
    float* h_principal = new float[N];
    float* h_rate = new float[N];
    int* h_months = new int[N];
    float* h_payment = new float[N];
    float* h_total = new float[N];
    load_array("data/principal.bin", h_principal, N);
    load_array("data/rate.bin", h_rate, N);
    load_array("data/months.bin", h_months, N);

    float *d_principal, *d_rate, *d_payment, *d_total;
    int* d_months;
    cudaMalloc(&d_principal, N * sizeof(float));
    cudaMalloc(&d_rate, N * sizeof(float));
    cudaMalloc(&d_months, N * sizeof(int));
    cudaMalloc(&d_payment, N * sizeof(float));
    cudaMalloc(&d_total, N * sizeof(float));
    cudaMemcpy(d_principal, h_principal, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, h_rate, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_months, h_months, N * sizeof(int), cudaMemcpyHostToDevice);

    instalments_strided<<<1024, 256>>>(d_principal, d_rate, d_months, d_payment, d_total, N);
    cudaDeviceSynchronize();

    cudaMemcpy(h_payment, d_payment, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_total, d_total, N * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/payment.bin", h_payment, N);
    save_array("data/total.bin", h_total, N);

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
