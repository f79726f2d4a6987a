#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 30;
constexpr int kN = 40;

// One block per system: as soon as x[k] is known, all later rows subtract its contribution.
__global__ void forward_substitution(const float* l, const float* b, float* x) {
    __shared__ float rest[kN];
    const float* matrix = l + (size_t)blockIdx.x * kN * kN;
    int i = threadIdx.x;
    rest[i] = b[blockIdx.x * kN + i];
    __syncthreads();
    for (int k = 0; k < kN; ++k) {
        if (i == k) rest[k] /= matrix[k * kN + k];
        __syncthreads();
        if (i > k) rest[i] -= matrix[i * kN + k] * rest[k];
    }
    x[blockIdx.x * kN + i] = rest[i];
}

int main() {
    const size_t l_elems = (size_t)kBatch * kN * kN;
    const size_t b_elems = (size_t)kBatch * kN;
    std::vector<float> h_l(l_elems), h_b(b_elems), h_x(b_elems);

    std::ifstream l_file("data/l.bin", std::ios::binary);
    l_file.read(reinterpret_cast<char*>(h_l.data()), l_elems * sizeof(float));
    if (!l_file) {
        std::cerr << "cannot read data/l.bin" << std::endl;
        return 1;
    }
    std::ifstream in_b("data/b.bin", std::ios::binary);
    in_b.read(reinterpret_cast<char*>(h_b.data()), b_elems * sizeof(float));
    if (!in_b) {
        std::cerr << "cannot read data/b.bin" << std::endl;
        return 1;
    }

    float *d_l = nullptr, *d_b = nullptr, *d_x = nullptr;
    cudaMalloc(&d_l, l_elems * sizeof(float));
    cudaMalloc(&d_b, b_elems * sizeof(float));
    cudaMalloc(&d_x, b_elems * sizeof(float));
    cudaMemcpy(d_l, h_l.data(), l_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), b_elems * sizeof(float), cudaMemcpyHostToDevice);

    forward_substitution<<<kBatch, kN>>>(d_l, d_b, d_x);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_x.data(), d_x, b_elems * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream x_out("data/x.bin", std::ios::binary);
    x_out.write(reinterpret_cast<const char*>(h_x.data()), b_elems * sizeof(float));

    cudaFree(d_l);
    cudaFree(d_b);
    cudaFree(d_x);
    return 0;
}
