#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void read_binary(const std::string& path, T* dst, size_t n) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(dst), n * sizeof(T));
    if (!file) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
}

template <typename T>
void write_binary(const std::string& path, const T* src, size_t n) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(src), n * sizeof(T));
}
//@given

constexpr int ROWS = 45;
constexpr int COLS = 444;
constexpr int ELEMENTS = ROWS * COLS;

// Adding half a mantissa to the bit pattern carries into the exponent exactly when v >= 1.5 * 2^e.
__global__ void round_to_power_bits(const float *__restrict__ x, float *__restrict__ y,
        int *__restrict__ exponent, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        int e = ((__float_as_int(v) + 0x00400000) >> 23) - 127;
        e = min(e, 3);
        const bool dead = v < 0.00390625f;
        y[i] = dead ? 0.0f : __int_as_float((e + 127) << 23);
        exponent[i] = dead ? -128 : e;
    }
}

int main() {
    float *h_x = new float[ELEMENTS];
    float *h_y = new float[ELEMENTS];
    int *h_exponent = new int[ELEMENTS];
    read_binary("data/x.bin", h_x, ELEMENTS);

    float *d_x;
    float *d_y;
    int *d_exponent;
    cudaMalloc(&d_x, ELEMENTS * sizeof(float));
    cudaMemcpy(d_x, h_x, ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, ELEMENTS * sizeof(float));
    cudaMalloc(&d_exponent, ELEMENTS * sizeof(int));

    round_to_power_bits<<<min((ELEMENTS + 255) / 256, 4096), 256>>>(d_x, d_y, d_exponent, ELEMENTS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_exponent, d_exponent, ELEMENTS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, ELEMENTS);
    write_binary("data/exponent.bin", h_exponent, ELEMENTS);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_exponent);
    delete[] h_x;
    delete[] h_y;
    delete[] h_exponent;
    return 0;
}
