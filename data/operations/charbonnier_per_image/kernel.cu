#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct CudaArray {
  T* data = nullptr;
  size_t count;
  explicit CudaArray(size_t n_) : count(n_) {
    if (cudaMalloc(&data, n_ * sizeof(T)) != cudaSuccess) {
      fprintf(stderr, "cudaMalloc failed\n");
      exit(1);
    }
  }
  ~CudaArray() { cudaFree(data); }
  CudaArray(const CudaArray&) = delete;
  CudaArray& operator=(const CudaArray&) = delete;
};

template <typename T>
std::vector<T> read_tensor(const char* path, size_t n) {
  std::vector<T> v(n);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  return v;
}

const int BATCH = 3;
const int CHANNELS = 3;
const int HEIGHT = 40;
const int WIDTH = 37;

// Several blocks share an image (grid y) and add their part of the mean atomically.
__global__ void charbonnier_split(const float* __restrict__ output, const float* __restrict__ clean, float* loss) {
  constexpr int kPixels = CHANNELS * HEIGHT * WIDTH;
  __shared__ float warp_part[8];
  const size_t base = (size_t)blockIdx.y * kPixels;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kPixels; i += gridDim.x * blockDim.x) {
    const float d = output[base + i] - clean[base + i];
    sum += sqrtf(fmaf(d, d, 1e-4f));
  }
  for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
  if ((threadIdx.x & 31) == 0) warp_part[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 8 ? warp_part[threadIdx.x] : 0.0f;
    for (int s = 4; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x == 0) atomicAdd(&loss[blockIdx.y], sum / kPixels);
  }
}

int main() {
  std::vector<float> h_output = read_tensor<float>("data/output.bin", BATCH * CHANNELS * HEIGHT * WIDTH);
  auto h_clean = read_tensor<float>("data/clean.bin", BATCH * CHANNELS * HEIGHT * WIDTH);
  std::vector<float> h_loss(BATCH);

  CudaArray<float> d_output(BATCH * CHANNELS * HEIGHT * WIDTH);
  CudaArray<float> d_clean(BATCH * CHANNELS * HEIGHT * WIDTH);
  CudaArray<float> d_loss(BATCH);
  cudaMemcpy(d_output.data, h_output.data(), BATCH * CHANNELS * HEIGHT * WIDTH * sizeof(float),
          cudaMemcpyHostToDevice);
  cudaMemcpy(d_clean.data, h_clean.data(), BATCH * CHANNELS * HEIGHT * WIDTH * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(d_loss.data, 0, BATCH * sizeof(float));

  charbonnier_split<<<dim3(64, BATCH), 256>>>(d_output.data, d_clean.data, d_loss.data);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  cudaMemcpy(h_loss.data(), d_loss.data, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream loss_out("data/loss.bin", std::ios::binary);
  loss_out.write(reinterpret_cast<const char*>(h_loss.data()), h_loss.size() * sizeof(float));
  return 0;
}
