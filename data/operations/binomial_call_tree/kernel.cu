#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kN = 100;
const int kSteps = 64;
const int kBlock = 96;

// One block an option, one thread a node; two rows of nodes take turns.
__global__ void tree_per_block(const float* __restrict__ spot, const float* __restrict__ strike,
                               const float* __restrict__ volatility, float* __restrict__ value) {
    __shared__ float node[2][kSteps + 1];
    int option = blockIdx.x, j = threadIdx.x;
    float up = volatility[option] * sqrtf(1.0f / kSteps);
    float u = expf(up), d = expf(-up);
    float r = expf(0.03f / kSteps);
    float high = (r - d) / (u - d) / r;
    float low = 1.0f / r - high;
    if (j <= kSteps) node[0][j] = fmaxf(spot[option] * expf(up * (2 * j - kSteps)) - strike[option], 0.0f);
    __syncthreads();
    int now = 0;
    for (int level = kSteps; level > 0; --level) {
        if (j < level) node[1 - now][j] = high * node[now][j + 1] + low * node[now][j];
        now = 1 - now;
        __syncthreads();
    }
    if (j == 0) value[option] = node[now][0];
}

int main() {
    const auto spot = load<float>("data/spot.bin", kN);
    const auto strike = load<float>("data/strike.bin", kN);
    const auto volatility = load<float>("data/volatility.bin", kN);
    std::vector<float> value(kN);

    float* d_spot;
    float* d_strike;
    float* d_volatility;
    float* d_value;
    cudaMalloc(&d_spot, sizeof(float) * kN);
    cudaMalloc(&d_strike, sizeof(float) * kN);
    cudaMalloc(&d_volatility, sizeof(float) * kN);
    cudaMalloc(&d_value, sizeof(float) * kN);
    cudaMemcpy(d_spot, spot.data(), sizeof(float) * kN, cudaMemcpyHostToDevice);
    cudaMemcpy(d_strike, strike.data(), sizeof(float) * kN, cudaMemcpyHostToDevice);
    cudaMemcpy(d_volatility, volatility.data(), sizeof(float) * kN, cudaMemcpyHostToDevice);

    tree_per_block<<<kN, kBlock>>>(d_spot, d_strike, d_volatility, d_value);

    if (const auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(value.data(), d_value, sizeof(float) * kN, cudaMemcpyDeviceToHost);
    store("data/value.bin", value);

    cudaFree(d_spot);
    cudaFree(d_strike);
    cudaFree(d_volatility);
    cudaFree(d_value);
    return 0;
}
