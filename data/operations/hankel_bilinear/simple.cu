#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int SERIES = 40;
constexpr int M = 30;
constexpr int N = 40;

__global__ void hankel_times_v(const float* h, const float* v, float* hv) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= SERIES * M) return;
    int s = idx / M;
    int i = idx % M;
    const float* window = h + s * (M + N - 1) + i;
    float sum = 0.0f;
    for (int j = 0; j < N; ++j) sum += window[j] * v[j];
    hv[idx] = sum;
}

__global__ void dot_with_u(const float* hv, const float* u, float* value) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= SERIES) return;
    float sum = 0.0f;
    for (int i = 0; i < M; ++i) sum += u[i] * hv[s * M + i];
    value[s] = sum;
}

void run(const float* dev_h, const float* dev_u, const float* dev_v, float* dev_value, float* dev_hv) {
    hankel_times_v<<<(SERIES * M + 255) / 256, 256>>>(dev_h, dev_v, dev_hv);
    dot_with_u<<<(SERIES + 127) / 128, 128>>>(dev_hv, dev_u, dev_value);
}

int main() {
    const size_t n_h = (size_t)SERIES * (M + N - 1);
    const size_t n_hv = (size_t)SERIES * M;
    std::vector<float> h(n_h);
    std::vector<float> u(M);
    std::vector<float> v(N);
    std::vector<float> value(SERIES);
    std::vector<float> hv(n_hv);
    std::ifstream h_in("data/h.bin", std::ios::binary);
    if (!h_in.read(reinterpret_cast<char*>(h.data()), n_h * sizeof(float))) {
        std::cerr << "data/h.bin is missing or short\n";
        return 1;
    }
    std::ifstream u_in("data/u.bin", std::ios::binary);
    if (!u_in.read(reinterpret_cast<char*>(u.data()), M * sizeof(float))) {
        std::cerr << "data/u.bin is missing or short\n";
        return 1;
    }
    std::ifstream v_in("data/v.bin", std::ios::binary);
    if (!v_in.read(reinterpret_cast<char*>(v.data()), N * sizeof(float))) {
        std::cerr << "data/v.bin is missing or short\n";
        return 1;
    }

    float *dev_h, *dev_u, *dev_v, *dev_value, *dev_hv;
    cudaMalloc(&dev_h, n_h * sizeof(float));
    cudaMalloc(&dev_u, M * sizeof(float));
    cudaMalloc(&dev_v, N * sizeof(float));
    cudaMalloc(&dev_value, SERIES * sizeof(float));
    cudaMalloc(&dev_hv, n_hv * sizeof(float));
    cudaMemcpy(dev_h, h.data(), n_h * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_u, u.data(), M * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_v, v.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    run(dev_h, dev_u, dev_v, dev_value, dev_hv);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure\n";
        return 1;
    }
    cudaMemcpy(value.data(), dev_value, SERIES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(hv.data(), dev_hv, n_hv * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream value_out("data/value.bin", std::ios::binary);
    value_out.write(reinterpret_cast<const char*>(value.data()), SERIES * sizeof(float));
    std::ofstream hv_out("data/hv.bin", std::ios::binary);
    hv_out.write(reinterpret_cast<const char*>(hv.data()), n_hv * sizeof(float));
    cudaFree(dev_h);
    cudaFree(dev_u);
    cudaFree(dev_v);
    cudaFree(dev_value);
    cudaFree(dev_hv);
    return 0;
}
