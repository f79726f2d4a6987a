#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_bin(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("cannot read " + path);
    return data;
}

template <typename T>
void save_bin(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kRows = 150;
constexpr int kLength = 31;
constexpr int BLOCK = 128;

__global__ void sine_modes(const float* u, float* modes, float* energy) {
    __shared__ float part[BLOCK];
    const float* row = u + blockIdx.x * kLength;
    float mine = 0.0f;
    for (int k = threadIdx.x; k < kLength; k += BLOCK) {
        float sum = 0.0f;
        for (int j = 0; j < kLength; ++j) {
            int turn = (j + 1) * (k + 1) % (2 * (kLength + 1));
            sum += row[j] * sinpif((float)turn / (kLength + 1));
        }
        modes[blockIdx.x * kLength + k] = sum;
        float q = (k + 1) * sum / (kLength + 1);
        mine += q * q / (kLength + 1);
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) energy[blockIdx.x] = part[0];
}

int main() {
    constexpr size_t num_u = kRows * kLength;
    const auto host_u = load_bin<float>("data/u.bin", num_u);
    std::vector<float> host_modes(num_u);
    std::vector<float> host_energy(kRows);

    float* dev_u = nullptr;
    float* dev_modes = nullptr;
    float* dev_energy = nullptr;
    cudaMalloc(&dev_u, host_u.size() * sizeof(float));
    cudaMalloc(&dev_modes, host_modes.size() * sizeof(float));
    cudaMalloc(&dev_energy, host_energy.size() * sizeof(float));
    cudaMemcpy(dev_u, host_u.data(), host_u.size() * sizeof(float), cudaMemcpyHostToDevice);

    sine_modes<<<kRows, BLOCK>>>(dev_u, dev_modes, dev_energy);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;

    cudaMemcpy(host_modes.data(), dev_modes, host_modes.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_energy.data(), dev_energy, host_energy.size() * sizeof(float), cudaMemcpyDeviceToHost);
    save_bin("data/modes.bin", host_modes);
    save_bin("data/energy.bin", host_energy);
    cudaFree(dev_u);
    cudaFree(dev_modes);
    cudaFree(dev_energy);
}
