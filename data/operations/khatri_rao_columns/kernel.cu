#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int LEFT = 20;
const int RIGHT = 33;
const int RANK = 17;

// blockIdx.x is the row of a. Its products with the weights are made once and then meet all rows of b.
__global__ void khatri_rao_by_row(const float* a, const float* b, const float* weight, float* out) {
    __shared__ float scaled[RANK];
    for (int c = threadIdx.x; c < RANK; c += blockDim.x) scaled[c] = weight[c] * a[blockIdx.x * RANK + c];
    __syncthreads();
    float* slab = out + (size_t)blockIdx.x * RIGHT * RANK;
    const int step = blockDim.x * gridDim.y;
    for (int e = blockIdx.y * blockDim.x + threadIdx.x; e < RIGHT * RANK; e += step) slab[e] = scaled[e % RANK] * b[e];
}

int main() {
    std::vector<float> h_a(LEFT * RANK), h_b(RIGHT * RANK), h_lambda_r(RANK), h_out(LEFT * RIGHT * RANK);
    std::ifstream f_a("data/a.bin", std::ios::binary);
    f_a.read(reinterpret_cast<char*>(h_a.data()), sizeof(float) * LEFT * RANK);
    if (!f_a) {
        std::cerr << "failed to load data/a.bin" << std::endl;
        return 1;
    }
    std::ifstream in_b("data/b.bin", std::ios::binary);
    in_b.read(reinterpret_cast<char*>(h_b.data()), sizeof(float) * RIGHT * RANK);
    if (!in_b) {
        std::cerr << "failed to load data/b.bin" << std::endl;
        return 1;
    }
    std::ifstream in_lambda_r("data/lambda_r.bin", std::ios::binary);
    in_lambda_r.read(reinterpret_cast<char*>(h_lambda_r.data()), RANK * sizeof(float));
    if (!in_lambda_r) {
        std::cerr << "failed to load data/lambda_r.bin" << std::endl;
        return 1;
    }

    float *d_a, *d_b, *d_lambda_r, *d_out;
    cudaMalloc(&d_a, sizeof(float) * LEFT * RANK);
    cudaMemcpy(d_a, h_a.data(), sizeof(float) * LEFT * RANK, cudaMemcpyHostToDevice);
    cudaMalloc(&d_b, sizeof(float) * RIGHT * RANK);
    cudaMemcpy(d_b, h_b.data(), sizeof(float) * RIGHT * RANK, cudaMemcpyHostToDevice);
    cudaMalloc(&d_lambda_r, RANK * sizeof(float));
    cudaMemcpy(d_lambda_r, h_lambda_r.data(), RANK * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_out, sizeof(float) * LEFT * RIGHT * RANK);

    khatri_rao_by_row<<<dim3(LEFT, 4), 256>>>(d_a, d_b, d_lambda_r, d_out);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(result) << std::endl;
        return 1;
    }

    cudaMemcpy(h_out.data(), d_out, sizeof(float) * LEFT * RIGHT * RANK, cudaMemcpyDeviceToHost);
    std::ofstream out_out("data/out.bin", std::ios::binary);
    out_out.write(reinterpret_cast<const char*>(h_out.data()), sizeof(float) * LEFT * RIGHT * RANK);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_lambda_r);
    cudaFree(d_out);
    return 0;
}
