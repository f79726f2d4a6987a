#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void read_floats(const std::string& path, int* buf, size_t num) {
  FILE* f = fopen(path.c_str(), "rb");
  if (f == nullptr || fread(buf, 1, num * sizeof(int), f) != num * sizeof(int)) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

void write_floats(const std::string& path, const int* buf, size_t num) {
  FILE* f = fopen(path.c_str(), "wb");
  if (f == nullptr || fwrite(buf, 1, num * sizeof(int), f) != num * sizeof(int)) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

constexpr int HEIGHT = 60;
constexpr int WIDTH = 75;
constexpr int ROUNDS = 8;
constexpr int TILE = 16;
constexpr int SPAN = TILE + 2 * ROUNDS;

// A block of 32 x 32 threads runs all rounds in shared memory; only its inner 16 x 16 cells are right at the end.
__global__ void relaxTile(const int* __restrict__ cost, const int* __restrict__ seed, int* __restrict__ reach) {
  __shared__ int d[2][SPAN][SPAN + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = (int)blockIdx.x * TILE + tx - ROUNDS;
  int y = (int)blockIdx.y * TILE + ty - ROUNDS;
  bool inside = x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT;
  int c = inside ? cost[y * WIDTH + x] : 0;
  int value = inside ? seed[y * WIDTH + x] : 1000000;
  d[0][ty][tx] = value;
  __syncthreads();
  for (int r = 0; r < ROUNDS; ++r) {
    const int now = r & 1;
    if (c > 0) {
      if (ty > 0) value = min(value, d[now][ty - 1][tx] + c);
      if (ty < SPAN - 1) value = min(value, d[now][ty + 1][tx] + c);
      if (tx > 0) value = min(value, d[now][ty][tx - 1] + c);
      if (tx < SPAN - 1) value = min(value, d[now][ty][tx + 1] + c);
    }
    d[1 - now][ty][tx] = value;
    __syncthreads();
  }
  bool mine = tx >= ROUNDS && tx < ROUNDS + TILE && ty >= ROUNDS && ty < ROUNDS + TILE;
  if (inside && mine) reach[y * WIDTH + x] = value;
}

int main() {
  int* h_cost = new int[HEIGHT * WIDTH];
  int* h_seed = new int[HEIGHT * WIDTH];
  int* h_reach = new int[HEIGHT * WIDTH];
  read_floats("data/cost.bin", h_cost, HEIGHT * WIDTH);
  read_floats("data/seed.bin", h_seed, HEIGHT * WIDTH);

  int* d_cost;
  int* d_seed;
  int* d_reach;
  cudaMalloc(&d_cost, HEIGHT * WIDTH * sizeof(int));
  cudaMalloc(&d_seed, HEIGHT * WIDTH * sizeof(int));
  cudaMalloc(&d_reach, HEIGHT * WIDTH * sizeof(int));
  cudaMemcpy(d_cost, h_cost, HEIGHT * WIDTH * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_seed, h_seed, HEIGHT * WIDTH * sizeof(int), cudaMemcpyHostToDevice);

  dim3 block(SPAN, SPAN);
  dim3 grid((WIDTH + TILE - 1) / TILE, (HEIGHT + TILE - 1) / TILE);
  relaxTile<<<grid, block>>>(d_cost, d_seed, d_reach);
  cudaMemcpy(h_reach, d_reach, HEIGHT * WIDTH * sizeof(int), cudaMemcpyDeviceToHost);

  write_floats("data/reach.bin", h_reach, HEIGHT * WIDTH);

  cudaFree(d_cost);
  cudaFree(d_seed);
  cudaFree(d_reach);
  delete[] h_cost;
  delete[] h_seed;
  delete[] h_reach;
  return 0;
}
