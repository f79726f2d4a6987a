#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVector(const char* path, size_t count) {
  std::vector<T> v(count);
  FILE* f = fopen(path, "rb");
  if (f == nullptr || fread(v.data(), sizeof(T), count, f) != count) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
  return v;
}

template <typename T>
void saveVector(const char* path, const std::vector<T>& v) {
  FILE* f = fopen(path, "wb");
  if (f == nullptr || fwrite(v.data(), sizeof(T), v.size(), f) != v.size()) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}
//@given

constexpr int kBatch = 2;
constexpr int kChannels = 8;
constexpr int kPlane = 784;

__device__ float block_sum(float v, float* buf) {
  buf[threadIdx.x] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s];
    __syncthreads();
  }
  float total = buf[0];
  __syncthreads();
  return total;
}

__global__ void energy_gate(const float* x, float* y) {
  __shared__ float buf[256];
  const float* in = x + (size_t)blockIdx.x * kPlane;
  float* out = y + (size_t)blockIdx.x * kPlane;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < kPlane; i += blockDim.x) sum += in[i];
  float mean = block_sum(sum, buf) / kPlane;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < kPlane; i += blockDim.x) {
    float d = in[i] - mean;
    squares += d * d;
  }
  float var = block_sum(squares, buf) / (kPlane - 1);
  for (int i = threadIdx.x; i < kPlane; i += blockDim.x) {
    float d = in[i] - mean;
    float e = d * d / (4.0f * (var + 1e-4f)) + 0.5f;
    out[i] = in[i] / (1.0f + expf(-e));
  }
}

int main() {
  constexpr int n = kBatch * kChannels * kPlane;
  const auto h_x = loadVector<float>("data/x.bin", n);
  std::vector<float> h_y(n);

  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, n * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);

  energy_gate<<<kBatch * kChannels, 256>>>(d_x, d_y);
  if (auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
    fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(error));
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  saveVector("data/y.bin", h_y);
  cudaFree(d_x);
  cudaFree(d_y);
}
