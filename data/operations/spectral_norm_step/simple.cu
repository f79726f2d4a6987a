#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> readVector(const std::string& name, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(name, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << name << std::endl;
        std::exit(1);
    }
    return data;
}

template <typename T>
void writeVector(const std::string& name, const std::vector<T>& data) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kRows = 120;
constexpr int kCols = 200;

__global__ void transposed_product(const float* w, const float* u, float* v) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kCols) return;
    float sum = 0.0f;
    for (int r = 0; r < kRows; ++r) sum += w[(size_t)r * kCols + c] * u[r];
    v[c] = sum;
}

__global__ void product(const float* w, const float* v, float* z) {
    __shared__ float part[128];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < kCols; c += 128) sum += w[(size_t)blockIdx.x * kCols + c] * v[c];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) z[blockIdx.x] = part[0];
}

// One block: Euclidean length of a vector.
__global__ void vector_length(const float* a, int n, float* length) {
    __shared__ float part[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) sum += a[i] * a[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) *length = sqrtf(part[0]);
}

__global__ void divide(const float* a, const float* by, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] / *by;
}

int main() {
    constexpr size_t num_w = size_t(kRows) * kCols;
    const auto w_host = readVector<float>("data/w.bin", num_w);
    const auto u_host = readVector<float>("data/u.bin", kRows);
    std::vector<float> w_normalized_host(num_w);
    std::vector<float> u_next_host(kRows);

    float* d_w = nullptr;
    float* d_u = nullptr;
    float* d_w_normalized = nullptr;
    float* d_u_next = nullptr;
    float* d_v = nullptr;
    float* d_z = nullptr;
    float* d_len = nullptr;
    cudaMalloc(&d_w, num_w * sizeof(float));
    cudaMalloc(&d_u, kRows * sizeof(float));
    cudaMalloc(&d_w_normalized, num_w * sizeof(float));
    cudaMalloc(&d_u_next, kRows * sizeof(float));
    cudaMalloc(&d_v, kCols * sizeof(float));
    cudaMalloc(&d_z, kRows * sizeof(float));
    cudaMalloc(&d_len, 1 * sizeof(float));
    cudaMemcpy(d_w, w_host.data(), w_host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_u, u_host.data(), u_host.size() * sizeof(float), cudaMemcpyHostToDevice);

    transposed_product<<<(kCols + 128 - 1) / 128, 128>>>(d_w, d_u, d_v);
    vector_length<<<1, 256>>>(d_v, kCols, d_len);
    divide<<<(kCols + 256 - 1) / 256, 256>>>(d_v, d_len, d_v, kCols);
    product<<<kRows, 128>>>(d_w, d_v, d_z);
    vector_length<<<1, 256>>>(d_z, kRows, d_len);
    divide<<<(kRows + 256 - 1) / 256, 256>>>(d_z, d_len, d_u_next, kRows);
    divide<<<(kRows * kCols + 256 - 1) / 256, 256>>>(d_w, d_len, d_w_normalized, kRows * kCols);
    if (const auto status = cudaDeviceSynchronize(); status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(w_normalized_host.data(), d_w_normalized, w_normalized_host.size() * sizeof(float),
        cudaMemcpyDeviceToHost);
    cudaMemcpy(u_next_host.data(), d_u_next, u_next_host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    writeVector("data/w_normalized.bin", w_normalized_host);
    writeVector("data/u_next.bin", u_next_host);
    cudaFree(d_w);
    cudaFree(d_u);
    cudaFree(d_w_normalized);
    cudaFree(d_u_next);
    cudaFree(d_v);
    cudaFree(d_z);
    cudaFree(d_len);
    return 0;
}
