#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kProblems = 200;
constexpr int kDim = 70;

template <typename T>
struct DeviceArray {
  T* data = nullptr;
  size_t size;
  explicit DeviceArray(size_t n_) : size(n_) {
    if (cudaMalloc(&data, n_ * sizeof(T)) != cudaSuccess) {
      throw std::runtime_error("cudaMalloc failed");
    }
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void copy_in(const std::vector<T>& v) { cudaMemcpy(data, v.data(), size * sizeof(T), cudaMemcpyHostToDevice); }
  void copy_out(std::vector<T>& v) const {
    cudaMemcpy(v.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost);
  }
};

template <typename T>
std::vector<T> read_vector(const char* path, size_t n) {
  std::vector<T> v(n);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
    throw std::runtime_error(std::string("cannot read ") + path);
  }
  return v;
}

__device__ __forceinline__ float clampf(float v, float lo, float hi) {
  return fminf(hi, fmaxf(lo, v));
}

// Threads of a warp share one problem; a grid of fixed size walks over all of them.
__global__ void polyak_warps(const float* __restrict__ x, const float* __restrict__ grad,
               const float* __restrict__ value, const float* __restrict__ best,
               float* __restrict__ x_out, float* __restrict__ step) {
  const int lane = threadIdx.x & 31;
  const int warps = gridDim.x * (blockDim.x >> 5);
  for (int p = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; p < kProblems; p += warps) {
    const size_t base = (size_t)p * kDim;
    float sum = 0.0f;
    for (int k = lane; k < kDim; k += 32) sum = fmaf(grad[base + k], grad[base + k], sum);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    const float length = sum > 0.0f ? clampf((value[p] - best[p]) / sum, 0.0f, 10.0f) : 0.0f;
    for (int k = lane; k < kDim; k += 32) x_out[base + k] = clampf(x[base + k] - length * grad[base + k],
            -1.0f, 1.0f);
    if (lane == 0) step[p] = length;
  }
}

int main() try {
  std::vector<float> hX = read_vector<float>("data/x.bin", kProblems * kDim);
  auto hGrad = read_vector<float>("data/grad.bin", kProblems * kDim);
  std::vector<float> hValue = read_vector<float>("data/value.bin", kProblems);
  auto hBest = read_vector<float>("data/best.bin", kProblems);
  std::vector<float> h_x_out(kProblems * kDim), hStep(kProblems);

  DeviceArray<float> d_x(kProblems * kDim);
  DeviceArray<float> d_grad(kProblems * kDim);
  DeviceArray<float> d_value(kProblems);
  DeviceArray<float> d_best(kProblems);
  DeviceArray<float> d_x_out(kProblems * kDim);
  DeviceArray<float> d_step(kProblems);
  d_x.copy_in(hX);
  d_grad.copy_in(hGrad);
  d_value.copy_in(hValue);
  d_best.copy_in(hBest);

  polyak_warps<<<512, 256>>>(d_x.data, d_grad.data, d_value.data, d_best.data, d_x_out.data, d_step.data);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    throw std::runtime_error("kernel failed");
  }

  d_x_out.copy_out(h_x_out);
  d_step.copy_out(hStep);
  std::ofstream x_out_out("data/x_out.bin", std::ios::binary);
  x_out_out.write(reinterpret_cast<const char*>(h_x_out.data()), h_x_out.size() * sizeof(float));
  std::ofstream step_out("data/step.bin", std::ios::binary);
  step_out.write(reinterpret_cast<const char*>(hStep.data()), hStep.size() * sizeof(float));
  return 0;
} catch (const std::exception& e) {
  fprintf(stderr, "%s\n", e.what());
  return 1;
}
