#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> result(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(result.data()), count * sizeof(T));
    if (!file) {
        std::cerr << "could not read " << path << '\n';
        std::exit(1);
    }
    return result;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& result) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(T));
}
//@given

const int kDim = 150;

__global__ void redundancy_flat(const float* __restrict__ correlation, float* terms, float* __restrict__ gradient) {
    __shared__ float2 warps[8];
    float2 sum = make_float2(0.0f, 0.0f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kDim * kDim; i += gridDim.x * blockDim.x) {
        const float c = correlation[i];
        // Diagonal entries stand at multiples of dim + 1.
        const bool diagonal = i % (kDim + 1) == 0;
        const float miss = diagonal ? c - 1.0f : c;
        gradient[i] = miss * (diagonal ? 2.0f : 0.01f);
        if (diagonal) sum.x += miss * miss;
        else sum.y += miss * miss;
    }
    for (int d = 16; d > 0; d >>= 1) {
        sum.x += __shfl_down_sync(0xffffffffu, sum.x, d);
        sum.y += __shfl_down_sync(0xffffffffu, sum.y, d);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 2) {
        float total = 0.0f;
        for (int w = 0; w < 8; ++w) total += threadIdx.x == 0 ? warps[w].x : warps[w].y;
        atomicAdd(&terms[threadIdx.x], total);
    }
}

int main() {
    const auto h_correlation = load_file<float>("data/correlation.bin", kDim * kDim);

    float* d_correlation;
    cudaMalloc(&d_correlation, kDim * kDim * sizeof(float));
    float* d_terms;
    cudaMalloc(&d_terms, 2 * sizeof(float));
    float* d_gradient;
    cudaMalloc(&d_gradient, kDim * kDim * sizeof(float));
    cudaMemcpy(d_correlation, h_correlation.data(), kDim * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_terms, 0, 2 * sizeof(float));

    redundancy_flat<<<264, 256>>>(d_correlation, d_terms, d_gradient);

    if (auto rc = cudaDeviceSynchronize(); rc != cudaSuccess) {
        std::cerr << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    std::vector<float> h_terms(2), h_gradient(kDim * kDim);
    cudaMemcpy(h_terms.data(), d_terms, 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_gradient.data(), d_gradient, kDim * kDim * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/terms.bin", h_terms);
    store_file("data/gradient.bin", h_gradient);

    cudaFree(d_correlation);
    cudaFree(d_terms);
    cudaFree(d_gradient);
}
