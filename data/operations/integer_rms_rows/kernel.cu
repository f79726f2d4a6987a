#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_vector(const std::string& file_name, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(file_name, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << file_name << "\n";
        std::exit(1);
    }
    return v;
}

template <typename T>
void store_vector(const std::string& file_name, const std::vector<T>& v) {
    std::ofstream out(file_name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int ROWS = 60;
constexpr int WIDTH = 384;

__global__ void row_roots(const int* __restrict__ x, int* __restrict__ root) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= ROWS) return;
    long long sum = 0;
    for (int j = lane; j < WIDTH; j += 32) {
        int v = x[(size_t)row * WIDTH + j];
        sum += v * v;
    }
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (lane == 0) {
        int m = (int)(sum / WIDTH);
        // M is below 2^23, so the float root is off by one at most
        int r = (int)sqrtf((float)m);
        while (r * r > m) --r;
        while ((r + 1) * (r + 1) <= m) ++r;
        root[row] = max(r, 1);
    }
}

__global__ void scale_rows(const int* __restrict__ x, const int* __restrict__ weight, const int* __restrict__ root,
                           int* __restrict__ y) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= WIDTH) return;
    const int w = weight[j];
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
        size_t i = (size_t)r * WIDTH + j;
        y[i] = (x[i] * 256 / root[r]) * w / 256;
    }
}

int main() {
    constexpr size_t x_count = size_t(ROWS) * WIDTH;
    const auto x = load_vector<int>("data/x.bin", x_count);
    const auto weight = load_vector<int>("data/weight.bin", WIDTH);
    std::vector<int> y(x_count);
    std::vector<int> root(ROWS);

    int* d_x = nullptr;
    int* d_weight = nullptr;
    int* d_y = nullptr;
    int* d_root = nullptr;
    cudaMalloc(&d_x, x_count * sizeof(int));
    cudaMalloc(&d_weight, WIDTH * sizeof(int));
    cudaMalloc(&d_y, x_count * sizeof(int));
    cudaMalloc(&d_root, ROWS * sizeof(int));
    cudaMemcpy(d_x, x.data(), x.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, weight.data(), weight.size() * sizeof(int), cudaMemcpyHostToDevice);

    row_roots<<<(ROWS + 4 - 1) / 4, 128>>>(d_x, d_root);
    dim3 grid((WIDTH + 128 - 1) / 128, ROWS < 512 ? ROWS : 512);
    scale_rows<<<grid, 128>>>(d_x, d_weight, d_root, d_y);
    if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(y.data(), d_y, y.size() * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(root.data(), d_root, root.size() * sizeof(int), cudaMemcpyDeviceToHost);
    store_vector("data/y.bin", y);
    store_vector("data/root.bin", root);
    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_y);
    cudaFree(d_root);
    return 0;
}
