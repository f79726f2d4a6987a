#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define ROWS 28
#define COLS 600

__global__ void mish_backward(const float *x, const float *grad_out, float *grad_in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        float softplus = fmaxf(v, 0.0f) + log1pf(expf(-fabsf(v)));
        float w = tanhf(softplus);
        float sig = 1.0f / (1.0f + expf(-v));
        grad_in[i] = grad_out[i] * (w + v * sig * (1.0f - w * w));
    }
}

int main() {
    const int n = ROWS * COLS;
    const size_t nbytes = n * sizeof(float);
    float *x, *grad_out, *grad_in;
    cudaMallocManaged(&x, nbytes);
    cudaMallocManaged(&grad_out, nbytes);
    cudaMallocManaged(&grad_in, nbytes);

    std::ifstream x_in("data/x.bin", std::ios::binary);
    if (!x_in.read(reinterpret_cast<char*>(x), nbytes)) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }
    std::ifstream grad_out_in("data/grad_out.bin", std::ios::binary);
    if (!grad_out_in.read(reinterpret_cast<char*>(grad_out), nbytes)) {
        std::cerr << "cannot read data/grad_out.bin\n";
        return 1;
    }

    int block = 256;
    int grid = (n + block - 1) / block;
    mish_backward<<<grid, block>>>(x, grad_out, grad_in, n);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    std::ofstream grad_in_out("data/grad_in.bin", std::ios::binary);
    grad_in_out.write(reinterpret_cast<const char*>(grad_in), nbytes);

    cudaFree(x);
    cudaFree(grad_out);
    cudaFree(grad_in);
    return 0;
}
