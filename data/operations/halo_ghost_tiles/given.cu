const int TILES_Y = 4;
const int TILES_X = 5;
const int SIZE = 24;
const int GHOST = 2;
const int OUTER = SIZE + 2 * GHOST;
const int FIELD_H = TILES_Y * SIZE;
const int FIELD_W = TILES_X * SIZE;

__global__ void add_ghosts(const float* tiles, float* ghosted) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= TILES_Y * TILES_X * OUTER * OUTER) return;
  int c = i % OUTER;
  int r = i / OUTER % OUTER;
  int tx = i / (OUTER * OUTER) % TILES_X;
  int ty = i / (OUTER * OUTER * TILES_X);
  int y = (ty * SIZE + r - GHOST + FIELD_H) % FIELD_H;
  int x = (tx * SIZE + c - GHOST + FIELD_W) % FIELD_W;
  int tile = y / SIZE * TILES_X + x / SIZE;
  ghosted[i] = tiles[(tile * SIZE + y % SIZE) * SIZE + x % SIZE];
}

int main() {
  const size_t tiles_size = TILES_Y * TILES_X * SIZE * SIZE;
  const int ghosted_total = TILES_Y * TILES_X * (SIZE + 4) * (SIZE + 4);
  float* h_tiles = new float[tiles_size];
  read_binary("data/tiles.bin", h_tiles, tiles_size);

  float* d_tiles;
  float* d_ghosted;
  cudaMalloc(&d_tiles, tiles_size * sizeof(float));
  cudaMemcpy(d_tiles, h_tiles, tiles_size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_ghosted, ghosted_total * sizeof(float));

  const int block = 256;
  const int grid = (ghosted_total + block - 1) / block;
  add_ghosts<<<grid, block>>>(d_tiles, d_ghosted);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  float* h_ghosted = new float[ghosted_total];
  cudaMemcpy(h_ghosted, d_ghosted, ghosted_total * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/ghosted.bin", h_ghosted, ghosted_total);

  cudaFree(d_tiles);
  cudaFree(d_ghosted);
  delete[] h_tiles;
  delete[] h_ghosted;
  return 0;
}
