#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int kHeight = 40;
const int kWidth = 50;
const int kChannels = 16;

// One thread block handles an output row; channels are the fastest index, so neighbours read neighbours.
__global__ void soft_pool_rows(const float* __restrict__ x, float* __restrict__ y) {
    const int line = kWidth * kChannels;
    const float* upper = x + (size_t)(2 * blockIdx.x) * line;
    const float* lower = upper + line;
    float* out = y + (size_t)blockIdx.x * (kWidth / 2) * kChannels;
    for (int i = threadIdx.x; i < (kWidth / 2) * kChannels; i += blockDim.x) {
        const int at = i / kChannels * 2 * kChannels + i % kChannels;
        const float a = upper[at], b = upper[at + kChannels], c = lower[at], d = lower[at + kChannels];
        const float m = fmaxf(fmaxf(a, b), fmaxf(c, d));
        const float ea = __expf(a - m), eb = __expf(b - m), ec = __expf(c - m), ed = __expf(d - m);
        out[i] = (ea * a + eb * b + ec * c + ed * d) / (ea + eb + ec + ed);
    }
}

void solve(const float* d_x, float* d_y) {
    soft_pool_rows<<<kHeight / 2, 256>>>(d_x, d_y);
}

int main() {
    const int x_size = kHeight * kWidth * kChannels;
    const int y_size = (kHeight / 2) * (kWidth / 2) * kChannels;
    std::vector<float> h_x(x_size);
    std::vector<float> h_y(y_size);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    if (!in_x.read(reinterpret_cast<char*>(h_x.data()), x_size * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }

    float* d_x;
    float* d_y;
    cudaMalloc(&d_x, x_size * sizeof(float));
    cudaMalloc(&d_y, y_size * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), x_size * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_x, d_y);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, y_size * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/y.bin", std::ios::binary).write(reinterpret_cast<char*>(h_y.data()),
        y_size * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
