#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

template <typename T>
struct Buffer {
  T* data = nullptr;
  explicit Buffer(size_t count) {
    if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess)
        { fprintf(stderr, "cudaMalloc failed\n"); exit(1); }
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
};

static const int BATCH = 6;
static const int STEPS = 40;
static const int FEATURES = 96;
static const int TX = 32;
static const int TY = 8;

// The eight thread rows of a block take every eighth step.
__global__ void masked_mean_split(const float* __restrict__ x, const int* __restrict__ lengths,
                 const unsigned char* __restrict__ skip, float* __restrict__ mean) {
  __shared__ float sums[TY][TX];
  __shared__ int used[TY];
  int b = blockIdx.y;
  int f = blockIdx.x * TX + threadIdx.x;
  int length = lengths[b];
  float sum = 0.0f;
  int n = 0;
  for (int t = threadIdx.y; t < length; t += TY) {
    if (skip[b * STEPS + t]) continue;
    ++n;
    if (f < FEATURES) sum += x[((size_t)b * STEPS + t) * FEATURES + f];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  if (threadIdx.x == 0) used[threadIdx.y] = n;
  __syncthreads();
  if (threadIdx.y == 0 && f < FEATURES) {
    for (int k = 1; k < TY; ++k) {
      sum += sums[k][threadIdx.x];
      n += used[k];
    }
    mean[b * FEATURES + f] = n > 0 ? sum / n : 0.0f;
  }
}

int main() {
  const size_t xSize = (size_t)BATCH * STEPS * FEATURES;
  const size_t skipCount = (size_t)BATCH * STEPS;
  const size_t meanCount = (size_t)BATCH * FEATURES;
  std::vector<float> h_x(xSize);
  std::vector<int> h_lengths(BATCH);
  std::vector<unsigned char> h_skip(skipCount);
  std::vector<float> h_mean(meanCount);
  std::ifstream xIn("data/x.bin", std::ios::binary);
  if (!xIn.read(reinterpret_cast<char*>(h_x.data()), xSize * sizeof(float)))
      { fprintf(stderr, "cannot read data/x.bin\n"); exit(1); }
  std::ifstream lengthsIn("data/lengths.bin", std::ios::binary);
  if (!lengthsIn.read(reinterpret_cast<char*>(h_lengths.data()), BATCH * sizeof(int)))
      { fprintf(stderr, "cannot read data/lengths.bin\n"); exit(1); }
  std::ifstream skipIn("data/skip.bin", std::ios::binary);
  if (!skipIn.read(reinterpret_cast<char*>(h_skip.data()), skipCount * sizeof(unsigned char)))
      { fprintf(stderr, "cannot read data/skip.bin\n"); exit(1); }

  Buffer<float> gpu_x(xSize);
  Buffer<int> gpu_lengths(BATCH);
  Buffer<unsigned char> gpu_skip(skipCount);
  Buffer<float> gpu_mean(meanCount);
  cudaMemcpy(gpu_x.data, h_x.data(), xSize * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(gpu_lengths.data, h_lengths.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(gpu_skip.data, h_skip.data(), skipCount * sizeof(unsigned char), cudaMemcpyHostToDevice);

  dim3 block(TX, TY);
  dim3 grid((FEATURES + TX - 1) / TX, BATCH);
  masked_mean_split<<<grid, block>>>(gpu_x.data, gpu_lengths.data, gpu_skip.data, gpu_mean.data);
  if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "launch failed\n"); exit(1); }
  cudaMemcpy(h_mean.data(), gpu_mean.data, meanCount * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream("data/mean.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(h_mean.data()), meanCount * sizeof(float));
  return 0;
}
