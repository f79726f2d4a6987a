#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t size) {
    std::vector<T> data(size);
    std::ifstream stream(path, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(data.data()), size * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void save_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kCount = 7000;

__global__ void greeks(const float* spot, const float* strike, const float* maturity, const float* volatility,
                       float* vega, float* vanna, float* volga) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kCount) return;
    float S = spot[i], K = strike[i], T = maturity[i], s = volatility[i];
    float root = sqrtf(T);
    float d1 = (logf(S / K) + (0.02f + 0.5f * s * s) * T) / (s * root);
    float d2 = d1 - s * root;
    float phi = expf(-0.5f * d1 * d1) * 0.39894228f;
    float v = S * phi * root;
    vega[i] = v;
    vanna[i] = -phi * d2 / s;
    volga[i] = v * d1 * d2 / s;
}

int main() {
    auto spot = load_file<float>("data/spot.bin", kCount);
    auto strike = load_file<float>("data/strike.bin", kCount);
    auto maturity = load_file<float>("data/maturity.bin", kCount);
    auto volatility = load_file<float>("data/volatility.bin", kCount);
    std::vector<float> vega(kCount);
    std::vector<float> vanna(kCount);
    std::vector<float> volga(kCount);

    float* dev_spot;
    float* dev_strike;
    float* dev_maturity;
    float* dev_volatility;
    float* dev_vega;
    float* dev_vanna;
    float* dev_volga;
    cudaMalloc(&dev_spot, kCount * sizeof(float));
    cudaMalloc(&dev_strike, kCount * sizeof(float));
    cudaMalloc(&dev_maturity, kCount * sizeof(float));
    cudaMalloc(&dev_volatility, kCount * sizeof(float));
    cudaMalloc(&dev_vega, kCount * sizeof(float));
    cudaMalloc(&dev_vanna, kCount * sizeof(float));
    cudaMalloc(&dev_volga, kCount * sizeof(float));

    cudaMemcpy(dev_spot, spot.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_strike, strike.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_maturity, maturity.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_volatility, volatility.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);

    greeks<<<(kCount + 255) / 256, 256>>>(dev_spot, dev_strike, dev_maturity, dev_volatility, dev_vega,
            dev_vanna, dev_volga);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaMemcpy(vega.data(), dev_vega, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(vanna.data(), dev_vanna, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(volga.data(), dev_volga, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    save_file("data/vega.bin", vega);
    save_file("data/vanna.bin", vanna);
    save_file("data/volga.bin", volga);

    cudaFree(dev_spot);
    cudaFree(dev_strike);
    cudaFree(dev_maturity);
    cudaFree(dev_volatility);
    cudaFree(dev_vega);
    cudaFree(dev_vanna);
    cudaFree(dev_volga);
    return 0;
}
