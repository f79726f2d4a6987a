#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 20;
constexpr int COLS = 400;

struct DeviceBuffer {
  float* data = nullptr;
  size_t count;
  explicit DeviceBuffer(size_t n) : count(n) {
    if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~DeviceBuffer() { cudaFree(data); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void from_host(const std::vector<float>& v) {
    cudaMemcpy(data, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  }
  void to_host(std::vector<float>& v) const {
    cudaMemcpy(v.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost);
  }
};

std::vector<float> read_input(const std::string& path, size_t n) {
  std::vector<float> v(n);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(v.data()), n * sizeof(float));
  if (!in) throw std::runtime_error("cannot read " + path);
  return v;
}

const int TILE = 256;
const int HALO = 4;
const int WIDTH = TILE + 2 * HALO;

__device__ float median3(float a, float b, float c) {
  return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

__device__ float median5(float a, float b, float c, float d, float e) {
  // The largest and the smallest of a, b, c, d cannot be the median.
  float low = fmaxf(fminf(a, b), fminf(c, d));
  float high = fminf(fmaxf(a, b), fmaxf(c, d));
  return median3(low, high, e);
}

// All three steps on a tile with four extra columns at each side.
__global__ void smooth_tile(const float* __restrict__ series, float* __restrict__ smooth,
        float* __restrict__ rough) {
  __shared__ float x[WIDTH], a[WIDTH], b[WIDTH];
  const size_t row = (size_t)blockIdx.y * COLS;
  const int first = blockIdx.x * TILE - HALO;
  for (int i = threadIdx.x; i < WIDTH; i += TILE) {
    int c = min(max(first + i, 0), COLS - 1);
    x[i] = series[row + c];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < WIDTH; i += TILE) {
    int c = first + i;
    bool inner = i > 0 && i < WIDTH - 1 && c > 0 && c < COLS - 1;
    a[i] = inner ? median3(x[i - 1], x[i], x[i + 1]) : x[i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < WIDTH; i += TILE) {
    int c = first + i;
    bool inner = i > 1 && i < WIDTH - 2 && c > 1 && c < COLS - 2;
    b[i] = inner ? median5(a[i - 2], a[i - 1], a[i], a[i + 1], a[i + 2]) : a[i];
  }
  __syncthreads();
  const int i = threadIdx.x + HALO;
  const int c = first + i;
  if (c >= COLS) return;
  float s = c > 0 && c < COLS - 1 ? 0.25f * (b[i - 1] + b[i + 1]) + 0.5f * b[i] : b[i];
  smooth[row + c] = s;
  rough[row + c] = x[i] - s;
}

int main() {
  std::vector<float> h_series = read_input("data/series.bin", ROWS * COLS);
  std::vector<float> h_smooth(ROWS * COLS);
  std::vector<float> h_rough(ROWS * COLS);

  DeviceBuffer dev_series(ROWS * COLS);
  DeviceBuffer dev_smooth(ROWS * COLS);
  DeviceBuffer dev_rough(ROWS * COLS);
  dev_series.from_host(h_series);

  smooth_tile<<<dim3((COLS + TILE - 1) / TILE, ROWS), TILE>>>(dev_series.data, dev_smooth.data, dev_rough.data);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

  dev_smooth.to_host(h_smooth);
  dev_rough.to_host(h_rough);
  std::ofstream out_smooth("data/smooth.bin", std::ios::binary);
  out_smooth.write((char*)h_smooth.data(), ROWS * COLS * sizeof(float));
  std::ofstream out_rough("data/rough.bin", std::ios::binary);
  out_rough.write((char*)h_rough.data(), ROWS * COLS * sizeof(float));
  return 0;
}
