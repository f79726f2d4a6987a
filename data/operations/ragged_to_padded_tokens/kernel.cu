#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
  std::vector<T> data(count);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
  if (!in) throw std::runtime_error("failed to load " + path);
  return data;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& data) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kBatch = 60;
constexpr int kTotal = 6000;

constexpr int WIDTH = 160;
constexpr int WARPS = 8;

// One warp per sequence, five coalesced steps per row.
__global__ void pad_sequences(const int* __restrict__ values, const int* __restrict__ offsets,
                              int* __restrict__ padded, int* __restrict__ lost) {
  const int b = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (b >= kBatch) return;
  const int end = offsets[b + 1];
  const int start = max(offsets[b], end - WIDTH);
  for (int t = lane; t < WIDTH; t += 32) {
    padded[(size_t)b * WIDTH + t] = start + t < end ? values[start + t] : -1;
  }
  if (lane == 0) lost[b] = start - offsets[b];
}

int main() {
  constexpr size_t num_offsets = kBatch + 1;
  constexpr size_t num_padded = kBatch * 160;
  auto values = read_vector<int>("data/values.bin", kTotal);
  auto offsets = read_vector<int>("data/offsets.bin", num_offsets);
  std::vector<int> padded(num_padded);
  std::vector<int> lost(kBatch);

  int* dev_values = nullptr;
  int* dev_offsets = nullptr;
  int* dev_padded = nullptr;
  int* dev_lost = nullptr;
  cudaMalloc(&dev_values, values.size() * sizeof(int));
  cudaMalloc(&dev_offsets, offsets.size() * sizeof(int));
  cudaMalloc(&dev_padded, padded.size() * sizeof(int));
  cudaMalloc(&dev_lost, lost.size() * sizeof(int));
  cudaMemcpy(dev_values, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_offsets, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice);

  pad_sequences<<<(kBatch + WARPS - 1) / WARPS, 32 * WARPS>>>(dev_values, dev_offsets, dev_padded, dev_lost);

  cudaMemcpy(padded.data(), dev_padded, padded.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(lost.data(), dev_lost, lost.size() * sizeof(int), cudaMemcpyDeviceToHost);
  write_vector("data/padded.bin", padded);
  write_vector("data/lost.bin", lost);
  cudaFree(dev_values);
  cudaFree(dev_offsets);
  cudaFree(dev_padded);
  cudaFree(dev_lost);
  return 0;
}
