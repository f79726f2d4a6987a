#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

static const int ROWS = 25;
static const int COLS = 400;

struct GpuBuffer {
  float* ptr = nullptr;
  explicit GpuBuffer(size_t n) { cudaMalloc(&ptr, n * sizeof(float)); }
  ~GpuBuffer() { cudaFree(ptr); }
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
};

void read_file(const std::string& path, std::vector<float>& v) {
  std::ifstream f(path, std::ios::binary);
  if (!f.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(float)))
    throw std::runtime_error("cannot read " + path);
}

__global__ void highway(const float* x, const float* hidden, const float* transform, const float* bias,
        float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float g = 1.0f / (1.0f + expf(-(transform[i] + bias[i % COLS])));
    y[i] = g * tanhf(hidden[i]) + (1.0f - g) * x[i];
  }
}

int main() {
  const int elements = ROWS * COLS;
  std::vector<float> x(elements);
  std::vector<float> hidden(elements);
  std::vector<float> transform(elements);
  std::vector<float> bias(COLS);
  std::vector<float> y(elements);
  read_file("data/x.bin", x);
  read_file("data/hidden.bin", hidden);
  read_file("data/transform.bin", transform);
  read_file("data/bias.bin", bias);
  GpuBuffer d_x(elements);
  GpuBuffer d_hidden(elements);
  GpuBuffer d_transform(elements);
  GpuBuffer d_bias(COLS);
  GpuBuffer d_y(elements);
  cudaMemcpy(d_x.ptr, x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_hidden.ptr, hidden.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_transform.ptr, transform.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_bias.ptr, bias.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);
  highway<<<(elements + 255) / 256, 256>>>(d_x.ptr, d_hidden.ptr, d_transform.ptr, d_bias.ptr, d_y.ptr, elements);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

  cudaMemcpy(y.data(), d_y.ptr, elements * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out("data/y.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(y.data()), elements * sizeof(float));
  return 0;
}
