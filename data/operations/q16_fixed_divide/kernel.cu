#include <fstream>
#include <iostream>
#include <string>

#include <cuda_runtime.h>

void load(const std::string& path, int* out, size_t size) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(out), size * sizeof(int));
    if (!file) {
        std::cerr << "failed to read " << path << '\n';
        exit(1);
    }
}

void save(const std::string& path, const int* in, size_t size) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(in), size * sizeof(int));
}
//@given

static const int N = 12000;

// A double holds num * 65536 exactly; its quotient is corrected by one where rounding crossed an integer.
__device__ int divide_q16(int num, int den) {
    if (den == 0) return num > 0 ? 2147483647 : (num < 0 ? -2147483647 - 1 : 0);
    const double scaled = (double)num * 65536.0;
    double q = trunc(scaled / den);
    if (q >= 2147483647.0) return 2147483647;
    if (q <= -2147483648.0) return -2147483647 - 1;
    const double rest = scaled - q * den;
    if (rest != 0.0 && (rest < 0.0) != (num < 0)) q += (num < 0) == (den < 0) ? -1.0 : 1.0;
    return (int)q;
}

__global__ void fixed_divide_double(const int* __restrict__ num, const int* __restrict__ den,
                                    int* __restrict__ quotient, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        quotient[i] = divide_q16(num[i], den[i]);
    }
}

int main() {
    const size_t bytes = N * sizeof(int);
    int* h_num = new int[N];
    int* h_den = new int[N];
    int* h_quotient = new int[N];
    load("data/num.bin", h_num, N);
    load("data/den.bin", h_den, N);

    int* d_num;
    int* d_den;
    int* d_quotient;
    cudaMalloc(&d_num, bytes);
    cudaMemcpy(d_num, h_num, bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_den, bytes);
    cudaMemcpy(d_den, h_den, bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_quotient, bytes);

    fixed_divide_double<<<min((N + 256 - 1) / 256, 2048), 256>>>(d_num, d_den, d_quotient, N);
    cudaError_t rc = cudaGetLastError();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    cudaMemcpy(h_quotient, d_quotient, bytes, cudaMemcpyDeviceToHost);
    save("data/quotient.bin", h_quotient, N);

    cudaFree(d_num);
    cudaFree(d_den);
    cudaFree(d_quotient);
    delete[] h_num;
    delete[] h_den;
    delete[] h_quotient;
    return 0;
}
