constexpr int BATCH = 3;
constexpr int ROWS = 45;
constexpr int COLS = 61;

__global__ void split_colors(const float* grid, float* red, float* black, int batch, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int cells = rows * cols;
  if (i >= batch * cells) return;
  int b = i / cells;
  int r = i % cells / cols;
  int c = i % cols;
  int reds = (cells + 1) / 2;
  int blacks = cells / 2;
  if ((r + c) % 2 == 0) {
    red[b * reds + (r * cols + 1) / 2 + c / 2] = grid[i];
  } else {
    black[b * blacks + r * cols / 2 + c / 2] = grid[i];
  }
}

int main() {
  const int grid_size = BATCH * ROWS * COLS;
  const size_t red_count = BATCH * ((ROWS * COLS + 1) / 2);
  const size_t black_count = BATCH * (ROWS * COLS / 2);
  std::vector<float> h_grid(grid_size);
  std::vector<float> h_red(red_count);
  std::vector<float> h_black(black_count);

  read_binary("data/grid.bin", h_grid.data(), grid_size);

  float* d_grid = nullptr;
  float* d_red = nullptr;
  float* d_black = nullptr;
  cudaMalloc(&d_grid, grid_size * sizeof(float));
  cudaMalloc(&d_red, red_count * sizeof(float));
  cudaMalloc(&d_black, black_count * sizeof(float));

  cudaMemcpy(d_grid, h_grid.data(), grid_size * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (grid_size + threads - 1) / threads;
  split_colors<<<blocks, threads>>>(d_grid, d_red, d_black, BATCH, ROWS, COLS);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "checkerboard kernel: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  cudaMemcpy(h_red.data(), d_red, red_count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/red.bin", h_red.data(), red_count);
  cudaMemcpy(h_black.data(), d_black, black_count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/black.bin", h_black.data(), black_count);

  cudaFree(d_grid);
  cudaFree(d_red);
  cudaFree(d_black);
  return 0;
}
