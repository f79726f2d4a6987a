#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

static const int CHANNELS = 4;
static const int HEIGHT = 90;
static const int WIDTH = 110;

template <typename T>
struct DeviceBuffer {
  T* p = nullptr;
  size_t count;
  explicit DeviceBuffer(size_t n) : count(n) {
    if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
  }
  ~DeviceBuffer() { cudaFree(p); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  T* get() const { return p; }
  void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
  void download(std::vector<T>& v) const { cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
  std::vector<T> v(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T)))
    throw std::runtime_error(std::string("cannot read ") + path);
  return v;
}

__device__ int reflect(int i, int n) {
  if (i < 0) return -i;
  if (i >= n) return 2 * n - 2 - i;
  return i;
}

__global__ void blur_pool(const float* x, float* y) {
  const float k[5] = {1.0f, 4.0f, 6.0f, 4.0f, 1.0f};
  const int oh = HEIGHT / 2, ow = WIDTH / 2;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= oh || j >= ow) return;
  const float* plane = x + (size_t)blockIdx.z * HEIGHT * WIDTH;
  float sum = 0.0f;
  for (int a = 0; a < 5; a++) {
    const float* row = plane + reflect(2 * i + a - 2, HEIGHT) * WIDTH;
    for (int b = 0; b < 5; b++) sum += k[a] * k[b] * row[reflect(2 * j + b - 2, WIDTH)];
  }
  y[((size_t)blockIdx.z * oh + i) * ow + j] = sum / 256.0f;
}

int main() {
  const int n_x = CHANNELS * HEIGHT * WIDTH;
  const int n_y = CHANNELS * (HEIGHT / 2) * (WIDTH / 2);
  std::vector<float> h_x = load<float>("data/x.bin", n_x);
  std::vector<float> h_y(n_y);

  DeviceBuffer<float> x_dev(n_x);
  DeviceBuffer<float> y_dev(n_y);
  x_dev.upload(h_x);

  dim3 block(16, 16);
  dim3 grid(((WIDTH / 2) + 16 - 1) / 16, ((HEIGHT / 2) + 16 - 1) / 16, CHANNELS);
  blur_pool<<<grid, block>>>(x_dev.get(), y_dev.get());
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("launch error");

  y_dev.download(h_y);
  std::ofstream("data/y.bin", std::ios::binary)
    .write(reinterpret_cast<const char*>(h_y.data()), n_y * sizeof(float));
  return 0;
}
