#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int kRows = 60;
const int kWidth = 384;

__global__ void integer_rms(const int* x, const int* weight, int* y, int* root) {
    __shared__ long long part[128];
    __shared__ int row_root;
    int t = threadIdx.x;
    const int* row = x + (size_t)blockIdx.x * kWidth;
    long long sum = 0;
    for (int j = t; j < kWidth; j += 128) sum += (long long)row[j] * row[j];
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) {
        int m = (int)(part[0] / kWidth);
        int lo = 0, hi = 2001;
        while (hi - lo > 1) {
            int mid = (lo + hi) / 2;
            if (mid * mid <= m) lo = mid;
            else hi = mid;
        }
        row_root = lo > 0 ? lo : 1;
        root[blockIdx.x] = row_root;
    }
    __syncthreads();
    for (int j = t; j < kWidth; j += 128)
        y[(size_t)blockIdx.x * kWidth + j] = (row[j] * 256 / row_root) * weight[j] / 256;
}

int main() {
    const size_t num_x = kRows * kWidth;
    std::vector<int> h_x(num_x), h_weight(kWidth), h_y(num_x), h_root(kRows);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    in_x.read(reinterpret_cast<char*>(h_x.data()), num_x * sizeof(int));
    if (!in_x) {
        std::cerr << "cannot read data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream in_weight("data/weight.bin", std::ios::binary);
    in_weight.read(reinterpret_cast<char*>(h_weight.data()), kWidth * sizeof(int));
    if (!in_weight) {
        std::cerr << "missing or short file data/weight.bin" << std::endl;
        return 1;
    }

    int* d_x;
    int* d_weight;
    int* d_y;
    int* d_root;
    cudaMalloc(&d_x, num_x * sizeof(int));
    cudaMalloc(&d_weight, kWidth * sizeof(int));
    cudaMalloc(&d_y, num_x * sizeof(int));
    cudaMalloc(&d_root, kRows * sizeof(int));
    cudaMemcpy(d_x, h_x.data(), num_x * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), kWidth * sizeof(int), cudaMemcpyHostToDevice);

    integer_rms<<<kRows, 128>>>(d_x, d_weight, d_y, d_root);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, num_x * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_root.data(), d_root, kRows * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_y("data/y.bin", std::ios::binary);
    out_y.write(reinterpret_cast<char*>(h_y.data()), num_x * sizeof(int));
    std::ofstream out_root("data/root.bin", std::ios::binary);
    out_root.write(reinterpret_cast<char*>(h_root.data()), kRows * sizeof(int));

    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_y);
    cudaFree(d_root);
    return 0;
}
