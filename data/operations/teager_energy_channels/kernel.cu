#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("failed to load " + path);
    return v;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kSamples = 1000;
constexpr int kChannels = 8;

const int STEPS = 128;

// A thread walks through a piece of one channel with the three newest samples in registers.
__global__ void teager_pieces(const float* __restrict__ x, float* __restrict__ energy,
        float* __restrict__ average) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int begin = blockIdx.y * STEPS;
    if (c >= kChannels) return;
    int end = min(begin + STEPS, kSamples);
    int centre = min(max(begin, 1), kSamples - 2);
    float before = x[(centre - 1) * kChannels + c];
    float here = x[centre * kChannels + c];
    float after = x[(centre + 1) * kChannels + c];
    float sum = 0.0f;
    for (int t = begin; t < end; ++t) {
        if (t > centre && t < kSamples - 1) {
            before = here;
            here = after;
            after = x[(t + 1) * kChannels + c];
        }
        float e = here * here - before * after;
        energy[t * kChannels + c] = e;
        sum += e;
    }
    atomicAdd(&average[c], sum / kSamples);
}

int main() {
    constexpr size_t count_x = kSamples * kChannels;
    const auto host_x = read_vector<float>("data/x.bin", count_x);
    std::vector<float> host_energy(count_x);
    std::vector<float> host_average(kChannels);

    float* dev_x = nullptr;
    float* dev_energy = nullptr;
    float* dev_average = nullptr;
    cudaMalloc(&dev_x, host_x.size() * sizeof(float));
    cudaMalloc(&dev_energy, host_energy.size() * sizeof(float));
    cudaMalloc(&dev_average, host_average.size() * sizeof(float));
    cudaMemcpy(dev_x, host_x.data(), host_x.size() * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(kChannels < 64 ? 32 : 64);
    dim3 grid((kChannels + block.x - 1) / block.x, (kSamples + STEPS - 1) / STEPS);
    cudaMemset(dev_average, 0, kChannels * sizeof(float));
    teager_pieces<<<grid, block>>>(dev_x, dev_energy, dev_average);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;

    cudaMemcpy(host_energy.data(), dev_energy, host_energy.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_average.data(), dev_average, host_average.size() * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/energy.bin", host_energy);
    write_vector("data/average.bin", host_average);
    cudaFree(dev_x);
    cudaFree(dev_energy);
    cudaFree(dev_average);
}
