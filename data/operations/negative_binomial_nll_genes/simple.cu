#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

const int kCells = 60;
const int kGenes = 200;
const int kNumElements = kCells * kGenes;

template <typename T>
struct GpuArray {
  T* p = nullptr;
  size_t size;
  explicit GpuArray(size_t n_) : size(n_) {
    if (cudaMalloc(&p, n_ * sizeof(T)) != cudaSuccess) {
      throw std::runtime_error("cudaMalloc failed");
    }
  }
  ~GpuArray() { cudaFree(p); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), size * sizeof(T), cudaMemcpyHostToDevice); }
  void download(std::vector<T>& v) const {
    cudaMemcpy(v.data(), p, size * sizeof(T), cudaMemcpyDeviceToHost);
  }
};

template <typename T>
std::vector<T> read_tensor(const char* path, size_t n) {
  std::vector<T> v(n);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
    throw std::runtime_error(std::string("cannot read ") + path);
  }
  return v;
}

__global__ void nb_nll(const int* counts, const float* mean, const float* dispersion, float* nll) {
  __shared__ float part[256];
  int tid = threadIdx.x;
  float sum = 0.0f;
  for (int g = tid; g < kGenes; g += 256) {
    float k = (float)counts[(size_t)blockIdx.x * kGenes + g];
    float u = mean[(size_t)blockIdx.x * kGenes + g];
    float t = dispersion[g];
    sum += lgammaf(t) + lgammaf(k + 1.0f) - lgammaf(k + t);
    sum += t * logf((t + u) / t) + k * logf((t + u) / u);
  }
  part[tid] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (tid < d) part[tid] += part[tid + d];
    __syncthreads();
  }
  if (tid == 0) nll[blockIdx.x] = part[0];
}

int main() try {
  auto h_counts = read_tensor<int>("data/counts.bin", kNumElements);
  std::vector<float> h_mean = read_tensor<float>("data/mean.bin", kNumElements);
  auto h_dispersion = read_tensor<float>("data/dispersion.bin", kGenes);
  std::vector<float> h_nll(kCells);

  GpuArray<int> dev_counts(kNumElements);
  GpuArray<float> dev_mean(kNumElements);
  GpuArray<float> dev_dispersion(kGenes);
  GpuArray<float> dev_nll(kCells);
  dev_counts.upload(h_counts);
  dev_mean.upload(h_mean);
  dev_dispersion.upload(h_dispersion);

  nb_nll<<<kCells, 256>>>(dev_counts.p, dev_mean.p, dev_dispersion.p, dev_nll.p);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    throw std::runtime_error("kernel failed");
  }

  dev_nll.download(h_nll);
  std::ofstream nll_out("data/nll.bin", std::ios::binary);
  nll_out.write(reinterpret_cast<const char*>(h_nll.data()), h_nll.size() * sizeof(float));
  return 0;
} catch (const std::exception& e) {
  fprintf(stderr, "%s\n", e.what());
  return 1;
}
