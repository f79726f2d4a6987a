#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_array(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

void save_array(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}
//@given

#define HEIGHT 60
#define WIDTH 100

static int ceilDiv(int a, int b) { return (a + b - 1) / b; }

__global__ void highlife_step(const uint8_t* old_grid, uint8_t* new_grid, int* living) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= WIDTH || y >= HEIGHT) return;
  int around = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      int yy = (y + dy + HEIGHT) % HEIGHT;
      int xx = (x + dx + WIDTH) % WIDTH;
      around += old_grid[yy * WIDTH + xx];
    }
  }
  bool alive = old_grid[y * WIDTH + x] != 0;
  bool next = alive ? (around == 2 || around == 3) : (around == 3 || around == 6);
  new_grid[y * WIDTH + x] = next ? 1 : 0;
  if (next) atomicAdd(living, 1);
}

int main() {
  const size_t n = HEIGHT * WIDTH;
  const size_t bytes_start = n * sizeof(uint8_t);
  const size_t bytes_final = n * sizeof(uint8_t);
  const size_t bytes_population = 8 * sizeof(int);
  uint8_t* h_start = (uint8_t*)malloc(bytes_start);
  uint8_t* h_final = (uint8_t*)malloc(bytes_final);
  int* h_population = (int*)malloc(bytes_population);
  load_array("data/start.bin", h_start, bytes_start);

  uint8_t *d_start, *d_final, *d_temp, *d_temp2;
  int *d_population;
  cudaMalloc(&d_start, bytes_start);
  cudaMalloc(&d_final, bytes_final);
  cudaMalloc(&d_population, bytes_population);
  cudaMalloc(&d_temp, HEIGHT * WIDTH * sizeof(uint8_t));
  cudaMalloc(&d_temp2, HEIGHT * WIDTH * sizeof(uint8_t));
  cudaMemcpy(d_start, h_start, bytes_start, cudaMemcpyHostToDevice);
  cudaMemset(d_population, 0, 8 * sizeof(int));

  dim3 block(16, 16);
  dim3 grid(ceilDiv(WIDTH, 16), ceilDiv(HEIGHT, 16));
  const uint8_t* from = d_start;
  for (int k = 0; k < 8; ++k) {
    uint8_t* to = k == 7 ? d_final : (k % 2 == 0 ? d_temp : d_temp2);
    highlife_step<<<grid, block>>>(from, to, d_population + k);
    from = to;
  }

  cudaMemcpy(h_final, d_final, bytes_final, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_population, d_population, bytes_population, cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) {
    fprintf(stderr, "GPU error\n");
    return 1;
  }
  save_array("data/final.bin", h_final, bytes_final);
  save_array("data/population.bin", h_population, bytes_population);

  cudaFree(d_start);
  cudaFree(d_final);
  cudaFree(d_population);
  cudaFree(d_temp);
  cudaFree(d_temp2);
  free(h_start);
  free(h_final);
  free(h_population);
  return 0;
}
