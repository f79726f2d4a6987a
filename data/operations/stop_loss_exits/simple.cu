#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kTrades = 400;
constexpr int kDays = 100;

__global__ void find_exits(const int* price, int* exit_day, int* reason, int* profit) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kTrades) return;
    const int* p = price + (size_t)r * kDays;
    int entry = p[0];
    int peak = entry;
    int day = kDays - 1;
    int why = 0;
    for (int t = 1; t < kDays; t++) {
        if (p[t] > peak) peak = p[t];
        if (100 * p[t] <= 92 * peak) why = 1;
        else if (100 * p[t] >= 115 * entry) why = 2;
        if (why != 0) {
            day = t;
            break;
        }
    }
    exit_day[r] = day;
    reason[r] = why;
    profit[r] = p[day] - entry;
}

int main() {
    const size_t len = size_t(kTrades) * kDays;
    std::vector<int> h_price(len);
    std::vector<int> h_exit_day(kTrades);
    std::vector<int> h_reason(kTrades);
    std::vector<int> h_profit(kTrades);
    std::ifstream price_file("data/price.bin", std::ios::binary);
    price_file.read(reinterpret_cast<char*>(h_price.data()), len * sizeof(int));
    if (!price_file) {
        std::cerr << "cannot read data/price.bin\n";
        return 1;
    }

    int *d_price, *d_exit_day, *d_reason, *d_profit;
    cudaMalloc(&d_price, len * sizeof(int));
    cudaMalloc(&d_exit_day, kTrades * sizeof(int));
    cudaMalloc(&d_reason, kTrades * sizeof(int));
    cudaMalloc(&d_profit, kTrades * sizeof(int));

    cudaMemcpy(d_price, h_price.data(), len * sizeof(int), cudaMemcpyHostToDevice);

    find_exits<<<(kTrades + 127) / 128, 128>>>(d_price, d_exit_day, d_reason, d_profit);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }
    cudaMemcpy(h_exit_day.data(), d_exit_day, kTrades * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_reason.data(), d_reason, kTrades * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_profit.data(), d_profit, kTrades * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream exit_day_file("data/exit_day.bin", std::ios::binary);
    exit_day_file.write(reinterpret_cast<const char*>(h_exit_day.data()), kTrades * sizeof(int));
    std::ofstream reason_file("data/reason.bin", std::ios::binary);
    reason_file.write(reinterpret_cast<const char*>(h_reason.data()), kTrades * sizeof(int));
    std::ofstream profit_file("data/profit.bin", std::ios::binary);
    profit_file.write(reinterpret_cast<const char*>(h_profit.data()), kTrades * sizeof(int));

    cudaFree(d_price);
    cudaFree(d_exit_day);
    cudaFree(d_reason);
    cudaFree(d_profit);
    return 0;
}
