#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

template <typename T>
struct Buffer {
  T* ptr = nullptr;
  explicit Buffer(size_t count) {
    if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess)
        { fprintf(stderr, "cudaMalloc failed\n"); exit(1); }
  }
  ~Buffer() { cudaFree(ptr); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void upload(const std::vector<T>& v) { cudaMemcpy(ptr, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice); }
  void download(std::vector<T>& v) const {
    cudaMemcpy(v.data(), ptr, v.size() * sizeof(T), cudaMemcpyDeviceToHost);
  }
};

static const int ROWS = 64;
static const int COLS = 500;
static const int BLOCK = 128;

__global__ void hoyer(const float* x, float* sparsity, int* zeros) {
  __shared__ float s1[BLOCK];
  __shared__ float s2[BLOCK];
  __shared__ int nz[BLOCK];
  int t = threadIdx.x;
  float a = 0.0f, q = 0.0f;
  int count = 0;
  for (int c = t; c < COLS; c += BLOCK) {
    float v = x[(size_t)blockIdx.x * COLS + c];
    a += fabsf(v);
    q += v * v;
    if (v == 0.0f) count++;
  }
  s1[t] = a;
  s2[t] = q;
  nz[t] = count;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if (t < s) {
      s1[t] += s1[t + s];
      s2[t] += s2[t + s];
      nz[t] += nz[t + s];
    }
    __syncthreads();
  }
  if (t == 0) {
    float root = sqrtf((float)COLS);
    sparsity[blockIdx.x] = s2[0] > 0.0f ? (root - s1[0] / sqrtf(s2[0])) / (root - 1.0f) : 1.0f;
    zeros[blockIdx.x] = nz[0];
  }
}

int main() {
  std::vector<float> host_x(ROWS * COLS);
  std::vector<float> host_sparsity(ROWS);
  std::vector<int> host_zeros(ROWS);
  std::ifstream in("data/x.bin", std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(host_x.data()), ROWS * COLS * sizeof(float)))
      { fprintf(stderr, "cannot read data/x.bin\n"); exit(1); }

  Buffer<float> dev_x(ROWS * COLS);
  Buffer<float> dev_sparsity(ROWS);
  Buffer<int> dev_zeros(ROWS);
  dev_x.upload(host_x);

  hoyer<<<ROWS, BLOCK>>>(dev_x.ptr, dev_sparsity.ptr, dev_zeros.ptr);
  if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "launch failed\n"); exit(1); }
  dev_sparsity.download(host_sparsity);
  dev_zeros.download(host_zeros);

  std::ofstream("data/sparsity.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(host_sparsity.data()), ROWS * sizeof(float));
  std::ofstream("data/zeros.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(host_zeros.data()), ROWS * sizeof(int));
  return 0;
}
