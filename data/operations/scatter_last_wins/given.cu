constexpr int kSize = 6000;
constexpr int kUpdates = 9000;

__global__ void find_winners(const int* position, int* winner, int updates, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= updates) return;
  int p = position[i];
  if (p >= 0 && p < size) atomicMax(&winner[p], i);
}

__global__ void take_values(const float* initial, const float* value, const int* winner, float* result, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) {
    result[i] = winner[i] < 0 ? initial[i] : value[winner[i]];
  }
}

int main() {
  std::vector<float> h_initial(kSize);
  read_binary("data/initial.bin", h_initial.data(), kSize);
  float* d_initial;
  cudaMalloc(&d_initial, sizeof(float) * kSize);
  cudaMemcpy(d_initial, h_initial.data(), sizeof(float) * kSize, cudaMemcpyHostToDevice);

  std::vector<int> h_position(kUpdates);
  read_binary("data/position.bin", reinterpret_cast<float*>(h_position.data()), kUpdates);
  int* d_position;
  cudaMalloc(&d_position, sizeof(int) * kUpdates);
  cudaMemcpy(d_position, h_position.data(), sizeof(int) * kUpdates, cudaMemcpyHostToDevice);

  std::vector<float> h_value(kUpdates);
  read_binary("data/value.bin", h_value.data(), kUpdates);
  float* d_value;
  cudaMalloc(&d_value, sizeof(float) * kUpdates);
  cudaMemcpy(d_value, h_value.data(), sizeof(float) * kUpdates, cudaMemcpyHostToDevice);

  std::vector<float> h_final(kSize);
  float* d_final;
  cudaMalloc(&d_final, sizeof(float) * kSize);
  std::vector<int> h_winner(kSize);
  int* d_winner;
  cudaMalloc(&d_winner, sizeof(int) * kSize);

  cudaMemset(d_winner, 0xff, kSize * sizeof(int));
  const int threads = 256;
  find_winners<<<(kUpdates + threads - 1) / threads, threads>>>(d_position, d_winner, kUpdates, kSize);
  take_values<<<(kSize + threads - 1) / threads, threads>>>(d_initial, d_value, d_winner, d_final, kSize);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "CUDA error" << std::endl;
    return 1;
  }

  cudaMemcpy(h_final.data(), d_final, sizeof(float) * kSize, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_winner.data(), d_winner, sizeof(int) * kSize, cudaMemcpyDeviceToHost);
  write_binary("data/final.bin", h_final.data(), kSize);
  write_binary("data/winner.bin", reinterpret_cast<const float*>(h_winner.data()), kSize);

  cudaFree(d_initial);
  cudaFree(d_position);
  cudaFree(d_value);
  cudaFree(d_final);
  cudaFree(d_winner);
  return 0;
}
