#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int kRows = 60;
const int kCols = 200;
const int kNumElements = kRows * kCols;

// A block per row counts the agreements with __syncthreads_count, one strip of columns at a time.
__global__ void signum_rows(const float* __restrict__ weight, const float* __restrict__ grad,
                            const float* __restrict__ momentum, const unsigned char* __restrict__ decay_row,
                            float* __restrict__ weight_out, float* __restrict__ momentum_out,
                            int* __restrict__ agreement) {
    const int row = blockIdx.x;
    const float d = decay_row[row] ? 0.999f : 1.0f;
    int total = 0;
    for (int first = 0; first < kCols; first += blockDim.x) {
        const int col = first + threadIdx.x;
        bool same = false;
        if (col < kCols) {
            const size_t i = (size_t)row * kCols + col;
            const float g = grad[i];
            const float m = fmaf(0.125f, g, 0.875f * momentum[i]);
            const int sign = (m > 0.0f) - (m < 0.0f);
            same = sign != 0 && sign == (g > 0.0f) - (g < 0.0f);
            momentum_out[i] = m;
            weight_out[i] = fmaf(-0.01f, (float)sign, d * weight[i]);
        }
        total += __syncthreads_count(same);
    }
    if (threadIdx.x == 0) agreement[row] = total;
}

int main() {
    float *weight, *grad, *momentum, *weight_out, *momentum_out;
    unsigned char* decay_row;
    int* agreement;
    cudaMallocManaged(&weight, kNumElements * sizeof(float));
    cudaMallocManaged(&grad, kNumElements * sizeof(float));
    cudaMallocManaged(&momentum, kNumElements * sizeof(float));
    cudaMallocManaged(&decay_row, kRows * sizeof(unsigned char));
    cudaMallocManaged(&weight_out, kNumElements * sizeof(float));
    cudaMallocManaged(&momentum_out, kNumElements * sizeof(float));
    cudaMallocManaged(&agreement, kRows * sizeof(int));

    std::ifstream weight_file("data/weight.bin", std::ios::binary);
    if (!weight_file.read(reinterpret_cast<char*>(weight), kNumElements * sizeof(float))) {
        std::cerr << "data/weight.bin: too short or missing" << std::endl;
        return 1;
    }
    std::ifstream grad_file("data/grad.bin", std::ios::binary);
    if (!grad_file.read(reinterpret_cast<char*>(grad), kNumElements * sizeof(float))) {
        std::cerr << "data/grad.bin: too short or missing" << std::endl;
        return 1;
    }
    std::ifstream momentum_file("data/momentum.bin", std::ios::binary);
    if (!momentum_file.read(reinterpret_cast<char*>(momentum), kNumElements * sizeof(float))) {
        std::cerr << "data/momentum.bin: too short or missing" << std::endl;
        return 1;
    }
    std::ifstream decay_row_file("data/decay_row.bin", std::ios::binary);
    if (!decay_row_file.read(reinterpret_cast<char*>(decay_row), kRows * sizeof(unsigned char))) {
        std::cerr << "data/decay_row.bin: read error" << std::endl;
        return 1;
    }

    signum_rows<<<kRows, 256>>>(weight, grad, momentum, decay_row, weight_out, momentum_out, agreement);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(cudaGetLastError()) << std::endl;
        return 1;
    }

    std::ofstream weight_out_file("data/weight_out.bin", std::ios::binary);
    weight_out_file.write(reinterpret_cast<const char*>(weight_out), kNumElements * sizeof(float));
    std::ofstream momentum_out_file("data/momentum_out.bin", std::ios::binary);
    momentum_out_file.write(reinterpret_cast<const char*>(momentum_out), kNumElements * sizeof(float));
    std::ofstream agreement_file("data/agreement.bin", std::ios::binary);
    agreement_file.write(reinterpret_cast<const char*>(agreement), kRows * sizeof(int));

    cudaFree(weight);
    cudaFree(grad);
    cudaFree(momentum);
    cudaFree(decay_row);
    cudaFree(weight_out);
    cudaFree(momentum_out);
    cudaFree(agreement);
    return 0;
}
