#define HEIGHT 60
#define WIDTH 100

__global__ void highlife_step(const uint8_t* old_grid, uint8_t* new_grid, int* living, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int around = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      int yy = (y + dy + height) % height;
      int xx = (x + dx + width) % width;
      around += old_grid[yy * width + xx];
    }
  }
  bool alive = old_grid[y * width + x] != 0;
  bool next = alive ? (around == 2 || around == 3) : (around == 3 || around == 6);
  new_grid[y * width + x] = next ? 1 : 0;
  if (next) atomicAdd(living, 1);
}

int main() {
  const int numel = HEIGHT * WIDTH;
  const size_t start_floats = (numel + 3) / 4;

  uint8_t* h_start = new uint8_t[4 * start_floats];
  read_binary("data/start.bin", reinterpret_cast<float*>(h_start), start_floats);

  uint8_t* d_start;
  uint8_t* d_final;
  int* d_population;
  uint8_t* d_scratch;
  cudaMalloc(&d_start, numel * sizeof(uint8_t));
  cudaMalloc(&d_final, numel * sizeof(uint8_t));
  cudaMalloc(&d_population, 8 * sizeof(int));
  cudaMalloc(&d_scratch, numel * sizeof(uint8_t));
  cudaMemcpy(d_start, h_start, numel * sizeof(uint8_t), cudaMemcpyHostToDevice);

  cudaMemset(d_population, 0, 8 * sizeof(int));
  dim3 block(16, 16);
  dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
  const uint8_t* from = d_start;
  for (int k = 0; k < 8; ++k) {
    uint8_t* to = k % 2 == 0 ? d_scratch : d_final;
    highlife_step<<<grid, block>>>(from, to, d_population + k, HEIGHT, WIDTH);
    from = to;
  }
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  uint8_t* h_final = new uint8_t[numel];
  cudaMemcpy(h_final, d_final, numel * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream out("data/final.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_final), numel);
  int* h_population = new int[8];
  cudaMemcpy(h_population, d_population, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/population.bin", reinterpret_cast<const float*>(h_population), 8);

  cudaFree(d_start);
  cudaFree(d_final);
  cudaFree(d_population);
  cudaFree(d_scratch);
  delete[] h_start;
  delete[] h_final;
  delete[] h_population;
  return 0;
}
