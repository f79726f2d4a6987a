const int HEIGHT = 64;
const int WIDTH = 100;
const int ROUNDS = 6;

__global__ void start_growth(const unsigned char* seeds, int* before, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) before[i] = seeds[i] ? 0 : -1;
}

__global__ void growth_round(const unsigned char* passable, const int* before, int* arrival, int round) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= HEIGHT * WIDTH) return;
  int x = i % WIDTH;
  int y = i / WIDTH;
  int value = before[i];
  if (value < 0 && passable[i]) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (y + dy < 0 || y + dy >= HEIGHT || x + dx < 0 || x + dx >= WIDTH) continue;
        if (before[i + dy * WIDTH + dx] >= 0) value = round;
      }
    }
  }
  arrival[i] = value;
}

int main() {
  const int size = HEIGHT * WIDTH;
  const size_t seeds_floats = (size + 3) / 4;
  const size_t passable_floats = (size + 3) / 4;

  std::vector<unsigned char> h_seeds(4 * seeds_floats);
  std::vector<unsigned char> h_passable(4 * passable_floats);
  std::vector<int> h_arrival(size);
  read_binary("data/seeds.bin", reinterpret_cast<float*>(h_seeds.data()), seeds_floats);
  read_binary("data/passable.bin", reinterpret_cast<float*>(h_passable.data()), passable_floats);

  unsigned char* d_seeds;
  cudaMalloc(&d_seeds, size * sizeof(unsigned char));
  cudaMemcpy(d_seeds, h_seeds.data(), size * sizeof(unsigned char), cudaMemcpyHostToDevice);
  unsigned char* d_passable;
  cudaMalloc(&d_passable, size * sizeof(unsigned char));
  cudaMemcpy(d_passable, h_passable.data(), size * sizeof(unsigned char), cudaMemcpyHostToDevice);
  int* d_arrival;
  cudaMalloc(&d_arrival, size * sizeof(int));
  int* d_before;
  cudaMalloc(&d_before, size * sizeof(int));

  const int threads = 256;
  const int blocks = (size + threads - 1) / threads;
  start_growth<<<blocks, threads>>>(d_seeds, d_before, size);
  for (int round = 1; round <= ROUNDS; ++round) {
    growth_round<<<blocks, threads>>>(d_passable, d_before, d_arrival, round);
    cudaMemcpy(d_before, d_arrival, size * sizeof(int), cudaMemcpyDeviceToDevice);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "masked kernel" << std::endl;
    return 1;
  }

  cudaMemcpy(h_arrival.data(), d_arrival, size * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/arrival.bin", reinterpret_cast<const float*>(h_arrival.data()), size);

  cudaFree(d_before);
  cudaFree(d_arrival);
  cudaFree(d_passable);
  cudaFree(d_seeds);
  return 0;
}
