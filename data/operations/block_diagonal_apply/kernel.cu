#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct Buffer {
  float* ptr_ = nullptr;
  size_t count;
  explicit Buffer(size_t n) : count(n) {
    if (cudaMalloc(&ptr_, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("out of device memory");
  }
  ~Buffer() { cudaFree(ptr_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* get() const { return ptr_; }
  void put(const std::vector<float>& v) {
    cudaMemcpy(ptr_, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  }
  void fetch(std::vector<float>& v) const {
    cudaMemcpy(v.data(), ptr_, count * sizeof(float), cudaMemcpyDeviceToHost);
  }
};

std::vector<float> from_file(const std::string& path, size_t count) {
  std::vector<float> v(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(v.data()), count * sizeof(float));
  if (!file) throw std::runtime_error("cannot read " + path);
  return v;
}

const int VECTORS = 10;
const int BLOCKS = 12;
const int SIZE = 16;
const int LENGTH = BLOCKS * SIZE;
const int GROUP = 8;

// One thread block per diagonal block (and group of vectors): the dense block sits in shared memory.
__global__ void apply_staged(const float* __restrict__ d, const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float dense[SIZE][SIZE + 1];
  __shared__ float part[GROUP][SIZE];
  const int k = blockIdx.x;
  const int v0 = blockIdx.y * GROUP;
  for (int e = threadIdx.x; e < SIZE * SIZE; e += blockDim.x) dense[e / SIZE][e % SIZE] = d[k * SIZE * SIZE + e];
  for (int e = threadIdx.x; e < GROUP * SIZE; e += blockDim.x) {
    const int v = v0 + e / SIZE;
    part[e / SIZE][e % SIZE] = v < VECTORS ? x[v * LENGTH + k * SIZE + e % SIZE] : 0.0f;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < GROUP * SIZE; e += blockDim.x) {
    const int v = v0 + e / SIZE, r = e % SIZE;
    if (v >= VECTORS) break;
    float sum = 0.0f;
    for (int c = 0; c < SIZE; ++c) sum = fmaf(dense[r][c], part[e / SIZE][c], sum);
    y[v * LENGTH + k * SIZE + r] = sum;
  }
}

int main() {
  const size_t d_size = (size_t)BLOCKS * SIZE * SIZE;
  const size_t x_size = (size_t)VECTORS * BLOCKS * SIZE;
  std::vector<float> h_d = from_file("data/d.bin", d_size);
  std::vector<float> h_x = from_file("data/x.bin", x_size);
  std::vector<float> h_y(x_size);

  Buffer dev_d(d_size), dev_x(x_size), dev_y(x_size);
  dev_d.put(h_d);
  dev_x.put(h_x);

  dim3 grid(BLOCKS, (VECTORS + GROUP - 1) / GROUP);
  apply_staged<<<grid, 128>>>(dev_d.get(), dev_x.get(), dev_y.get());
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("launch error");

  dev_y.fetch(h_y);
  std::ofstream("data/y.bin", std::ios::binary)
    .write(reinterpret_cast<const char*>(h_y.data()), x_size * sizeof(float));
  return 0;
}
