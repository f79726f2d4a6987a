#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
  std::vector<T> data(count);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
  if (!in) throw std::runtime_error("cannot read " + path);
  return data;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& data) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kSamples = 3000;
constexpr int kChannels = 6;
const int MAX_DELAY = 500;

// Threads next to each other take channels next to each other; blockIdx.y and a stride choose the chain's start.
__global__ void allpass_chains(const float* __restrict__ x, const int* __restrict__ delay,
                               const float* __restrict__ gain, float* __restrict__ y) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kChannels) return;
  const int d = delay[c];
  const float g = gain[c];
  for (int start = blockIdx.y * blockDim.y + threadIdx.y; start < d; start += gridDim.y * blockDim.y) {
    float old_x = 0.0f, old_y = 0.0f;
    for (int t = start; t < kSamples; t += d) {
      const int i = t * kChannels + c;
      const float now = x[i];
      old_y = old_x + g * (old_y - now);
      old_x = now;
      y[i] = old_y;
    }
  }
}

int main() {
  constexpr size_t num_x = kSamples * kChannels;
  auto host_x = read_vector<float>("data/x.bin", num_x);
  const auto host_delay = read_vector<int>("data/delay.bin", kChannels);
  const auto host_gain = read_vector<float>("data/gain.bin", kChannels);
  std::vector<float> host_y(num_x);

  float* d_x = nullptr;
  int* d_delay = nullptr;
  float* d_gain = nullptr;
  float* d_y = nullptr;
  cudaMalloc(&d_x, host_x.size() * sizeof(float));
  cudaMalloc(&d_delay, host_delay.size() * sizeof(int));
  cudaMalloc(&d_gain, host_gain.size() * sizeof(float));
  cudaMalloc(&d_y, host_y.size() * sizeof(float));
  cudaMemcpy(d_x, host_x.data(), host_x.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_delay, host_delay.data(), host_delay.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gain, host_gain.data(), host_gain.size() * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(16, 16);
  dim3 grid((kChannels + 15) / 16, (MAX_DELAY + 15) / 16);
  allpass_chains<<<grid, block>>>(d_x, d_delay, d_gain, d_y);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;

  cudaMemcpy(host_y.data(), d_y, host_y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  write_vector("data/y.bin", host_y);
  cudaFree(d_x);
  cudaFree(d_delay);
  cudaFree(d_gain);
  cudaFree(d_y);
}
