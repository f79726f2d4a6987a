#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int TOTAL = 500;
constexpr int DIM = 30;
constexpr int BATCH = 9;
constexpr int MAX_LEN = 60;

template <typename T>
struct CudaArray {
    T* p = nullptr;
    explicit CudaArray(size_t n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~CudaArray() { cudaFree(p); }
    CudaArray(const CudaArray&) = delete;
    CudaArray& operator=(const CudaArray&) = delete;
};

template <typename T>
void read_values(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T))) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
}

__global__ void fill_slots(const float* values, const int* offsets, const float* position, float* padded,
                           unsigned char* valid) {
    int t = blockIdx.x;
    int b = blockIdx.y;
    bool used = t < offsets[b + 1] - offsets[b];
    int slot = b * MAX_LEN + t;
    if (threadIdx.x == 0) valid[slot] = used ? 1 : 0;
    for (int d = threadIdx.x; d < DIM; d += blockDim.x) {
        float v = 0.0f;
        if (used) v = values[(size_t)(offsets[b] + t) * DIM + d] + position[t * DIM + d];
        padded[(size_t)slot * DIM + d] = v;
    }
}

int main() {
    size_t num_values = size_t(TOTAL) * DIM;
    size_t num_offsets = BATCH + 1;
    size_t num_position = size_t(MAX_LEN) * DIM;
    size_t num_padded = size_t(BATCH) * MAX_LEN * DIM;
    size_t num_valid = size_t(BATCH) * MAX_LEN;
    std::vector<float> host_values(num_values);
    std::vector<int> host_offsets(num_offsets);
    std::vector<float> host_position(num_position);
    std::vector<float> host_padded(num_padded);
    std::vector<unsigned char> host_valid(num_valid);
    read_values("data/values.bin", host_values);
    read_values("data/offsets.bin", host_offsets);
    read_values("data/position.bin", host_position);

    CudaArray<float> d_values(num_values);
    CudaArray<int> d_offsets(num_offsets);
    CudaArray<float> d_position(num_position);
    CudaArray<float> d_padded(num_padded);
    CudaArray<unsigned char> d_valid(num_valid);
    cudaMemcpy(d_values.p, host_values.data(), num_values * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets.p, host_offsets.data(), num_offsets * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_position.p, host_position.data(), num_position * sizeof(float), cudaMemcpyHostToDevice);

    fill_slots<<<dim3(MAX_LEN, BATCH), 64>>>(d_values.p, d_offsets.p, d_position.p, d_padded.p, d_valid.p);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) { std::cerr << cudaGetErrorString(err) << std::endl; return 1; }

    cudaMemcpy(host_padded.data(), d_padded.p, num_padded * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/padded.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_padded.data()),
        num_padded * sizeof(float));
    cudaMemcpy(host_valid.data(), d_valid.p, num_valid * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream("data/valid.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_valid.data()),
        num_valid * sizeof(unsigned char));
    return 0;
}
