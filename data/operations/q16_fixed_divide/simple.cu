#include <climits>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 12000;

__global__ void fixed_divide(const int* num, const int* den, int* quotient, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        long long a = num[i];
        long long b = den[i];
        long long q;
        if (b == 0) {
            q = a > 0 ? INT_MAX : (a < 0 ? INT_MIN : 0);
        } else {
            q = a * 65536 / b;
            if (q > INT_MAX) q = INT_MAX;
            if (q < INT_MIN) q = INT_MIN;
        }
        quotient[i] = (int)q;
    }
}

void solve(const int* d_num, const int* d_den, int* d_quotient) {
    int threads = 256;
    int blocks = (kN + threads - 1) / threads;
    fixed_divide<<<blocks, threads>>>(d_num, d_den, d_quotient, kN);
}

int main() {
    std::vector<int> host_num(kN);
    std::vector<int> host_den(kN);
    std::vector<int> host_quotient(kN);
    std::ifstream num_file("data/num.bin", std::ios::binary);
    if (!num_file.read(reinterpret_cast<char*>(host_num.data()), kN * sizeof(int))) {
        std::cerr << "cannot read data/num.bin" << std::endl;
        return 1;
    }
    std::ifstream den_file("data/den.bin", std::ios::binary);
    if (!den_file.read(reinterpret_cast<char*>(host_den.data()), kN * sizeof(int))) {
        std::cerr << "cannot read data/den.bin" << std::endl;
        return 1;
    }

    int *d_num = nullptr, *d_den = nullptr, *d_quotient = nullptr;
    cudaMalloc(&d_num, kN * sizeof(int));
    cudaMalloc(&d_den, kN * sizeof(int));
    cudaMalloc(&d_quotient, kN * sizeof(int));
    cudaMemcpy(d_num, host_num.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_den, host_den.data(), kN * sizeof(int), cudaMemcpyHostToDevice);

    solve(d_num, d_den, d_quotient);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel launch failed" << std::endl;
        return 1;
    }
    cudaMemcpy(host_quotient.data(), d_quotient, kN * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream out("data/quotient.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(host_quotient.data()), kN * sizeof(int));
    cudaFree(d_num);
    cudaFree(d_den);
    cudaFree(d_quotient);
    return 0;
}
