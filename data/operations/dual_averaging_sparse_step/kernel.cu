#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> readVector(const std::string& path, size_t count) {
    std::vector<T> result(count);
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(result.data()), count * sizeof(T));
    if (!stream) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return result;
}

template <typename T>
void writeVector(const std::string& path, const std::vector<T>& result) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(T));
}
//@given

constexpr int kN = 15000;

__global__ void dual_averaging_warp(const float* __restrict__ grad_sum, const float* __restrict__ square_sum,
                                    const float* __restrict__ grad, const int* __restrict__ round_number,
                                    float* __restrict__ weight, float* __restrict__ grad_sum_out,
                                    float* __restrict__ square_sum_out, int* nonzeros) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float excess = 0.0f;
    if (i < kN) {
        const float g = grad[i];
        const float s = grad_sum[i] + g;
        const float q = fmaf(g, g, square_sum[i]);
        // t * u, from which nothing has to be divided by t.
        excess = fmaxf(fabsf(s) - 0.05f * (float)*round_number, 0.0f);
        grad_sum_out[i] = s;
        square_sum_out[i] = q;
        weight[i] = (s > 0.0f ? -0.3f : 0.3f) * excess / sqrtf(q);
    }
    const unsigned int active = __ballot_sync(0xffffffffu, excess > 0.0f);
    if (threadIdx.x % 32 == 0 && active != 0) atomicAdd(nonzeros, __popc(active));
}

int main() {
    const auto h_grad_sum = readVector<float>("data/grad_sum.bin", kN);
    const auto h_square_sum = readVector<float>("data/square_sum.bin", kN);
    const auto hGrad = readVector<float>("data/grad.bin", kN);
    const auto hRound = readVector<int>("data/round.bin", 1);
    std::vector<float> hWeight(kN), h_grad_sum_out(kN), h_square_sum_out(kN);
    std::vector<int> hNonzeros(1);

    float* dev_grad_sum = nullptr;
    float* dev_square_sum = nullptr;
    float* dev_grad = nullptr;
    int* dev_round = nullptr;
    float* dev_weight = nullptr;
    float* dev_grad_sum_out = nullptr;
    float* dev_square_sum_out = nullptr;
    int* dev_nonzeros = nullptr;
    cudaMalloc(&dev_grad_sum, kN * sizeof(float));
    cudaMalloc(&dev_square_sum, kN * sizeof(float));
    cudaMalloc(&dev_grad, kN * sizeof(float));
    cudaMalloc(&dev_round, sizeof(int));
    cudaMalloc(&dev_weight, kN * sizeof(float));
    cudaMalloc(&dev_grad_sum_out, kN * sizeof(float));
    cudaMalloc(&dev_square_sum_out, kN * sizeof(float));
    cudaMalloc(&dev_nonzeros, sizeof(int));
    cudaMemcpy(dev_grad_sum, h_grad_sum.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_square_sum, h_square_sum.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_grad, hGrad.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_round, hRound.data(), sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(dev_nonzeros, 0, sizeof(int));

    dual_averaging_warp<<<(kN + 255) / 256, 256>>>(dev_grad_sum, dev_square_sum, dev_grad, dev_round,
                                               dev_weight, dev_grad_sum_out, dev_square_sum_out, dev_nonzeros);

    if (auto rc = cudaDeviceSynchronize(); rc != cudaSuccess) {
        std::cerr << cudaGetErrorString(rc) << std::endl;
        return 1;
    }
    cudaMemcpy(hWeight.data(), dev_weight, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_grad_sum_out.data(), dev_grad_sum_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_square_sum_out.data(), dev_square_sum_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(hNonzeros.data(), dev_nonzeros, sizeof(int), cudaMemcpyDeviceToHost);
    writeVector("data/weight.bin", hWeight);
    writeVector("data/grad_sum_out.bin", h_grad_sum_out);
    writeVector("data/square_sum_out.bin", h_square_sum_out);
    writeVector("data/nonzeros.bin", hNonzeros);
    cudaFree(dev_grad_sum);
    cudaFree(dev_square_sum);
    cudaFree(dev_grad);
    cudaFree(dev_round);
    cudaFree(dev_weight);
    cudaFree(dev_grad_sum_out);
    cudaFree(dev_square_sum_out);
    cudaFree(dev_nonzeros);
}
