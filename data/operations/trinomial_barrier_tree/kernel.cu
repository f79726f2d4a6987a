#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int OPTIONS = 60;
const int STEPS = 60;
const int NODES = 2 * STEPS + 1;

// One thread for an option: its values are updated in place, and levels from the barrier on are never visited.
__global__ void tree_per_thread(const float* __restrict__ spot, const float* __restrict__ strike,
                                const float* __restrict__ volatility, const float* __restrict__ barrier,
                                float* __restrict__ price) {
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= OPTIONS) return;
    float v[NODES + 1];
    const float s = volatility[o], dt = 0.5f / STEPS;
    const float dx = s * sqrtf(3.0f * dt);
    const float discount = expf(-0.03f * dt);
    float pu = 1.0f / 6.0f + (0.03f - 0.5f * s * s) * sqrtf(dt / 12.0f) / s;
    float pd = discount * (1.0f / 3.0f - pu);
    float pm = discount * (2.0f / 3.0f);
    pu *= discount;
    int alive = NODES;
    for (int k = 0; k < NODES; ++k) {
        const float node = spot[o] * expf((k - STEPS) * dx);
        if (node >= barrier[o] && k < alive) alive = k;
        v[k] = k < alive ? fmaxf(node - strike[o], 0.0f) : 0.0f;
    }
    for (int n = STEPS - 1; n >= 0; --n) {
        const int top = min(STEPS + n + 1, alive);
        float below = v[STEPS - n - 1];
        for (int k = STEPS - n; k < top; ++k) {
            const float here = v[k];
            v[k] = pu * v[k + 1] + pm * here + pd * below;
            below = here;
        }
    }
    price[o] = v[STEPS];
}

int main() {
    std::vector<float> h_spot(OPTIONS);
    std::vector<float> h_strike(OPTIONS);
    std::vector<float> h_volatility(OPTIONS);
    std::vector<float> h_barrier(OPTIONS);
    std::vector<float> h_price(OPTIONS);
    std::ifstream spot_file("data/spot.bin", std::ios::binary);
    spot_file.read(reinterpret_cast<char*>(h_spot.data()), OPTIONS * sizeof(float));
    if (!spot_file) {
        std::cerr << "cannot read data/spot.bin\n";
        return 1;
    }
    std::ifstream strike_file("data/strike.bin", std::ios::binary);
    strike_file.read(reinterpret_cast<char*>(h_strike.data()), OPTIONS * sizeof(float));
    if (!strike_file) {
        std::cerr << "cannot read data/strike.bin\n";
        return 1;
    }
    std::ifstream volatility_file("data/volatility.bin", std::ios::binary);
    volatility_file.read(reinterpret_cast<char*>(h_volatility.data()), OPTIONS * sizeof(float));
    if (!volatility_file) {
        std::cerr << "cannot read data/volatility.bin\n";
        return 1;
    }
    std::ifstream barrier_file("data/barrier.bin", std::ios::binary);
    barrier_file.read(reinterpret_cast<char*>(h_barrier.data()), OPTIONS * sizeof(float));
    if (!barrier_file) {
        std::cerr << "cannot read data/barrier.bin\n";
        return 1;
    }

    float* d_spot;
    float* d_strike;
    float* d_volatility;
    float* d_barrier;
    float* d_price;
    cudaMalloc(&d_spot, OPTIONS * sizeof(float));
    cudaMalloc(&d_strike, OPTIONS * sizeof(float));
    cudaMalloc(&d_volatility, OPTIONS * sizeof(float));
    cudaMalloc(&d_barrier, OPTIONS * sizeof(float));
    cudaMalloc(&d_price, OPTIONS * sizeof(float));
    cudaMemcpy(d_spot, h_spot.data(), OPTIONS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_strike, h_strike.data(), OPTIONS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_volatility, h_volatility.data(), OPTIONS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_barrier, h_barrier.data(), OPTIONS * sizeof(float), cudaMemcpyHostToDevice);

    tree_per_thread<<<(OPTIONS + 63) / 64, 64>>>(d_spot, d_strike, d_volatility, d_barrier, d_price);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << '\n';
        return 1;
    }
    cudaMemcpy(h_price.data(), d_price, OPTIONS * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream price_file("data/price.bin", std::ios::binary);
    price_file.write(reinterpret_cast<const char*>(h_price.data()), OPTIONS * sizeof(float));

    cudaFree(d_spot);
    cudaFree(d_strike);
    cudaFree(d_volatility);
    cudaFree(d_barrier);
    cudaFree(d_price);
    return 0;
}
