#include <cstdint>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 400;
const int WIDTH = 60;

__global__ void fnv1a(const uint8_t* text, const int* lengths, uint32_t* hashes, int* slots) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= ROWS) return;
  const uint8_t* row = text + (size_t)r * WIDTH;
  uint32_t h = 2166136261u;
  for (int i = 0; i < lengths[r]; ++i) h = (h ^ row[i]) * 16777619u;
  hashes[r] = h;
  slots[r] = h % 10007u;
}

int main() {
  const size_t count = (size_t)ROWS * WIDTH;
  std::vector<uint8_t> text(count);
  std::vector<int> lengths(ROWS);
  std::vector<uint32_t> hashes(ROWS);
  std::vector<int> slots(ROWS);
  if (!std::ifstream("data/text.bin", std::ios::binary).read((char*)text.data(), count * sizeof(uint8_t))) return 1;
  if (!std::ifstream("data/lengths.bin", std::ios::binary).read((char*)lengths.data(),
    ROWS * sizeof(int))) return 1;
  uint8_t* d_text; cudaMalloc(&d_text, count * sizeof(uint8_t));
  int* d_lengths; cudaMalloc(&d_lengths, ROWS * sizeof(int));
  uint32_t* d_hashes; cudaMalloc(&d_hashes, ROWS * sizeof(uint32_t));
  int* d_slots; cudaMalloc(&d_slots, ROWS * sizeof(int));
  cudaMemcpy(d_text, text.data(), count * sizeof(uint8_t), cudaMemcpyHostToDevice);
  cudaMemcpy(d_lengths, lengths.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);
  fnv1a<<<(ROWS + 128 - 1) / 128, 128>>>(d_text, d_lengths, d_hashes, d_slots);
  cudaMemcpy(hashes.data(), d_hashes, ROWS * sizeof(uint32_t), cudaMemcpyDeviceToHost);
  cudaMemcpy(slots.data(), d_slots, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream("data/hashes.bin", std::ios::binary).write((char*)hashes.data(), ROWS * sizeof(uint32_t));
  std::ofstream("data/slots.bin", std::ios::binary).write((char*)slots.data(), ROWS * sizeof(int));
  return 0;
}
