#define N 20000

__global__ void reverse_bits(const uint32_t* word, uint32_t* reversed, uint8_t* ones, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t w = word[i];
  uint32_t r = 0;
  int count = 0, highest = -1, lowest = -1;
  for (int k = 0; k < 32; ++k) {
    if ((w >> k) & 1u) {
      r |= 1u << (31 - k);
      ++count;
      if (lowest < 0) lowest = k;
      highest = k;
    }
  }
  if (count > 0 && highest - lowest <= 1) count += 128;
  reversed[i] = r;
  ones[i] = (uint8_t)count;
}

int main() {
  const size_t bytes = N * sizeof(uint32_t);

  uint32_t* h_word = new uint32_t[N];
  uint32_t* h_reversed = new uint32_t[N];
  uint8_t* h_ones = new uint8_t[N];
  read_binary("data/word.bin", reinterpret_cast<float*>(h_word), N);

  uint32_t* d_word = nullptr;
  uint32_t* d_reversed = nullptr;
  uint8_t* d_ones = nullptr;
  cudaMalloc((void**)&d_word, bytes);
  cudaMalloc((void**)&d_reversed, bytes);
  cudaMalloc((void**)&d_ones, sizeof(uint8_t) * N);

  cudaMemcpy(d_word, h_word, bytes, cudaMemcpyHostToDevice);

  const int block_size = 256;
  const int grid_size = (N + block_size - 1) / block_size;
  reverse_bits<<<grid_size, block_size>>>(d_word, d_reversed, d_ones, N);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "Kernel failed: " << cudaGetErrorString(err) << '\n';
    return 1;
  }

  cudaMemcpy(h_reversed, d_reversed, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_ones, d_ones, sizeof(uint8_t) * N, cudaMemcpyDeviceToHost);

  write_binary("data/reversed.bin", reinterpret_cast<float*>(h_reversed), N);
  std::ofstream out("data/ones.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_ones), N);
  out.close();

  delete[] h_word;
  delete[] h_reversed;
  delete[] h_ones;
  cudaFree(d_word);
  cudaFree(d_reversed);
  cudaFree(d_ones);
  return 0;
}
