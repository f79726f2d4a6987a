#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 3;
constexpr int kLength = 120;

template <typename T>
struct GpuArray {
  T* data = nullptr;
  size_t count;
  explicit GpuArray(size_t n) : count(n) {
    if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
  }
  ~GpuArray() { cudaFree(data); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  void upload(const std::vector<T>& v) { cudaMemcpy(data, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
  void download(std::vector<T>& v) const { cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
  std::vector<T> v(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T)))
    throw std::runtime_error(std::string("cannot read ") + path);
  return v;
}

__global__ void fill_mask(const int* document, unsigned char* mask) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y;
  int b = blockIdx.z;
  if (j >= kLength) return;
  int own = document[b * kLength + i];
  bool see = j <= i && own != 0 && document[b * kLength + j] == own;
  mask[((size_t)b * kLength + i) * kLength + j] = see ? 1 : 0;
}

__global__ void count_visible(const unsigned char* mask, int* visible) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kBatch * kLength) return;
  int n = 0;
  for (int j = 0; j < kLength; ++j) n += mask[(size_t)row * kLength + j];
  visible[row] = n;
}

int main() {
  const int document_count = kBatch * kLength;
  const int mask_count = kBatch * kLength * kLength;
  std::vector<int> host_document = load_file<int>("data/document.bin", document_count);
  std::vector<unsigned char> host_mask(mask_count);
  std::vector<int> host_visible(document_count);

  GpuArray<int> document_dev(document_count);
  GpuArray<unsigned char> mask_dev(mask_count);
  GpuArray<int> visible_dev(document_count);
  document_dev.upload(host_document);

  dim3 grid((kLength + 128 - 1) / 128, kLength, kBatch);
  fill_mask<<<grid, 128>>>(document_dev.data, mask_dev.data);
  count_visible<<<(kBatch * kLength + 128 - 1) / 128, 128>>>(mask_dev.data, visible_dev.data);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

  mask_dev.download(host_mask);
  visible_dev.download(host_visible);
  std::ofstream("data/mask.bin", std::ios::binary)
    .write(reinterpret_cast<const char*>(host_mask.data()), mask_count * sizeof(unsigned char));
  std::ofstream("data/visible.bin", std::ios::binary)
    .write(reinterpret_cast<const char*>(host_visible.data()), document_count * sizeof(int));
  return 0;
}
