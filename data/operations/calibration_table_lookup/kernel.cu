#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct DeviceBuffer {
  float* data = nullptr;
  size_t count = 0;
  explicit DeviceBuffer(size_t n) : count(n) {
    if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~DeviceBuffer() { cudaFree(data); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void copy_from(const std::vector<float>& v) { cudaMemcpy(data, v.data(), v.size() * sizeof(float),
          cudaMemcpyHostToDevice); }
  void copy_to(std::vector<float>& v) { cudaMemcpy(v.data(), data, v.size() * sizeof(float),
          cudaMemcpyDeviceToHost); }
};

void read_file(const std::string& path, std::vector<float>& v) {
  std::ifstream f(path, std::ios::binary);
  if (!f.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(float)))
    throw std::runtime_error("cannot read " + path);
}

constexpr int kN = 20000;
constexpr int kNodes = 17;

// The curve with the slope of each interval is put into shared memory by every block.
__global__ void calibrate_shared(const float* __restrict__ raw, const float* __restrict__ node,
                                 const float* __restrict__ value, float* __restrict__ corrected, int n) {
  __shared__ float at[kNodes], ordinate[kNodes], slope[kNodes];
  for (int k = threadIdx.x; k < kNodes; k += blockDim.x) {
    at[k] = node[k];
    ordinate[k] = value[k];
    slope[k] = k + 1 < kNodes ? (value[k + 1] - value[k]) / (node[k + 1] - node[k]) : 0.0f;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = fminf(fmaxf(raw[i], at[0]), at[kNodes - 1]);
    int low = 0, count = kNodes;
    while (count > 1) {
      const int half = count / 2;
      if (at[low + half] <= v) low += half;
      count -= half;
    }
    corrected[i] = fmaf(v - at[low], slope[low], ordinate[low]);
  }
}

int main() {
  try {
    std::vector<float> h_raw(kN);
    std::vector<float> h_node(kNodes);
    std::vector<float> h_value(kNodes);
    std::vector<float> h_corrected(kN);
    read_file("data/raw.bin", h_raw);
    read_file("data/node.bin", h_node);
    read_file("data/value.bin", h_value);

    DeviceBuffer d_raw(kN);
    DeviceBuffer d_node(kNodes);
    DeviceBuffer d_value(kNodes);
    DeviceBuffer d_corrected(kN);
    d_raw.copy_from(h_raw);
    d_node.copy_from(h_node);
    d_value.copy_from(h_value);

    calibrate_shared<<<min((kN + 1024 - 1) / 1024, 1024), 256>>>(d_raw.data, d_node.data, d_value.data,
            d_corrected.data, kN);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
    d_corrected.copy_to(h_corrected);
    std::ofstream out("data/corrected.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_corrected.data()), kN * sizeof(float));
  } catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
    return 1;
  }
  return 0;
}
