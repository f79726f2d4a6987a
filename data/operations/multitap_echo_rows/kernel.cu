#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("failed to load " + path);
    return values;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kRows = 6;
constexpr int kSamples = 4000;
constexpr int kTaps = 5;

const int CHUNK = 2048;

// A block makes one chunk of a row. Absolute values are not negative, so their bit patterns order like integers.
__global__ void echo_chunk(const float* __restrict__ dry, const int* __restrict__ delay,
                           const float* __restrict__ gain, float* __restrict__ wet, int* peak_bits) {
    __shared__ int late[kTaps];
    __shared__ float factor[kTaps];
    __shared__ int block_peak;
    if (threadIdx.x < kTaps) {
        late[threadIdx.x] = delay[threadIdx.x];
        factor[threadIdx.x] = gain[threadIdx.x];
    }
    if (threadIdx.x == 0) block_peak = 0;
    __syncthreads();
    const float* x = dry + (size_t)blockIdx.y * kSamples;
    int first = blockIdx.x * CHUNK;
    int last = min(first + CHUNK, kSamples);
    float m = 0.0f;
    for (int t = first + threadIdx.x; t < last; t += blockDim.x) {
        float sum = x[t];
        for (int k = 0; k < kTaps; ++k) {
            int s = t - late[k];
            sum += factor[k] * (s >= 0 ? x[s] : 0.0f);
        }
        wet[(size_t)blockIdx.y * kSamples + t] = sum;
        m = fmaxf(m, fabsf(sum));
    }
    atomicMax(&block_peak, __float_as_int(m));
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&peak_bits[blockIdx.y], block_peak);
}

int main() {
    const size_t num_dry = kRows * kSamples;
    const auto dry = from_file<float>("data/dry.bin", num_dry);
    const auto delay = from_file<int>("data/delay.bin", kTaps);
    const auto gain = from_file<float>("data/gain.bin", kTaps);
    std::vector<float> wet(num_dry);
    std::vector<float> peak(kRows);

    float* dev_dry = nullptr;
    int* dev_delay = nullptr;
    float* dev_gain = nullptr;
    float* dev_wet = nullptr;
    float* dev_peak = nullptr;
    cudaMalloc(&dev_dry, dry.size() * sizeof(float));
    cudaMalloc(&dev_delay, delay.size() * sizeof(int));
    cudaMalloc(&dev_gain, gain.size() * sizeof(float));
    cudaMalloc(&dev_wet, wet.size() * sizeof(float));
    cudaMalloc(&dev_peak, peak.size() * sizeof(float));
    cudaMemcpy(dev_dry, dry.data(), dry.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_delay, delay.data(), delay.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_gain, gain.data(), gain.size() * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemset(dev_peak, 0, kRows * sizeof(float));
    dim3 grid((kSamples + CHUNK - 1) / CHUNK, kRows);
    echo_chunk<<<grid, 256>>>(dev_dry, dev_delay, dev_gain, dev_wet, (int*)dev_peak);

    cudaMemcpy(wet.data(), dev_wet, wet.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(peak.data(), dev_peak, peak.size() * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/wet.bin", wet);
    to_file("data/peak.bin", peak);
    cudaFree(dev_dry);
    cudaFree(dev_delay);
    cudaFree(dev_gain);
    cudaFree(dev_wet);
    cudaFree(dev_peak);
    return 0;
}
