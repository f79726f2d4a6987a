#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) {
        std::cerr << "could not read " << path << '\n';
        std::exit(1);
    }
    return values;
}

template <typename T>
void storeVector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kHeight = 60;
constexpr int kWidth = 100;
constexpr int kSteps = 5;

// Firing cells of three rows are summed per column first; a block handles one row.
__global__ void brain_row(const unsigned char* __restrict__ now, unsigned char* __restrict__ next) {
    __shared__ unsigned char sum[kWidth];
    const int y = blockIdx.x;
    const unsigned char* mid = now + (size_t)y * kWidth;
    const unsigned char* up = now + (size_t)(y == 0 ? kHeight - 1 : y - 1) * kWidth;
    const unsigned char* down = now + (size_t)(y == kHeight - 1 ? 0 : y + 1) * kWidth;
    for (int x = threadIdx.x; x < kWidth; x += blockDim.x)
        sum[x] = (up[x] == 1) + (mid[x] == 1) + (down[x] == 1);
    __syncthreads();
    for (int x = threadIdx.x; x < kWidth; x += blockDim.x) {
        int near = sum[x] + sum[x == 0 ? kWidth - 1 : x - 1] + sum[x == kWidth - 1 ? 0 : x + 1];
        unsigned char state = mid[x];
        next[(size_t)y * kWidth + x] = state == 0 ? near == 2 : (state == 1 ? 2 : 0);
    }
}

int main() {
    constexpr auto total = kHeight * kWidth;
    auto h_grid_in = loadVector<unsigned char>("data/grid_in.bin", total);
    std::vector<unsigned char> h_grid_out(total);

    unsigned char* dev_grid_in = nullptr;
    cudaMalloc(&dev_grid_in, total * sizeof(unsigned char));
    unsigned char* dev_grid_out = nullptr;
    cudaMalloc(&dev_grid_out, total * sizeof(unsigned char));
    unsigned char* dev_work = nullptr;
    cudaMalloc(&dev_work, total * sizeof(unsigned char));
    cudaMemcpy(dev_grid_in, h_grid_in.data(), total * sizeof(unsigned char), cudaMemcpyHostToDevice);

    unsigned char* target[2] = {dev_work, dev_grid_out};
    const unsigned char* from = dev_grid_in;
    for (int left = kSteps; left > 0; --left) {
        brain_row<<<kHeight, 256>>>(from, target[left & 1]);
        from = target[left & 1];
    }
    auto status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_grid_out.data(), dev_grid_out, total * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    storeVector("data/grid_out.bin", h_grid_out);
    cudaFree(dev_grid_in);
    cudaFree(dev_grid_out);
    cudaFree(dev_work);
    return 0;
}
