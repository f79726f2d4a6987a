#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, void* data, size_t bytes) {
  FILE* f = fopen(path.c_str(), "rb");
  if (!f || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

void write_binary(const std::string& path, const void* data, size_t bytes) {
  FILE* f = fopen(path.c_str(), "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

#define ASSETS 50
#define DAYS 200
const int WINDOW = 14;
const int TILE = 32;

// One warp serves 32 assets: tiles of 32 days pass through shared memory both ways.
__global__ void rsi_tiles(const float* __restrict__ prices, float* __restrict__ rsi) {
  __shared__ float tile[TILE][TILE + 1];
  int lane = threadIdx.x;
  int first = blockIdx.x * TILE;
  int count = min(TILE, ASSETS - first);
  float gain = 0.0f, loss = 0.0f, last = 0.0f;
  for (int start = 0; start < DAYS; start += TILE) {
    int day = start + lane;
    for (int r = 0; r < count; ++r)
      if (day < DAYS) tile[r][lane] = prices[(size_t)(first + r) * DAYS + day];
    __syncthreads();
    int limit = min(TILE, DAYS - start);
    for (int k = 0; lane < count && k < limit; ++k) {
      int t = start + k;
      float price = tile[lane][k];
      float change = t > 0 ? price - last : 0.0f;
      last = price;
      float keep = t <= WINDOW ? 1.0f : 13.0f / 14.0f;
      gain = gain * keep + fmaxf(change, 0.0f) * (1.0f / WINDOW);
      loss = loss * keep + fmaxf(-change, 0.0f) * (1.0f / WINDOW);
      float total = gain + loss;
      tile[lane][k] = total > 0.0f ? 100.0f * gain / total : 50.0f;
    }
    __syncthreads();
    for (int r = 0; r < count; ++r)
      if (day >= WINDOW && day < DAYS)
        rsi[(size_t)(first + r) * (DAYS - WINDOW) + day - WINDOW] = tile[r][lane];
    __syncthreads();
  }
}

int main() {
  const size_t prices_bytes = ASSETS * DAYS * sizeof(float);
  const size_t rsi_bytes = (ASSETS * (DAYS - 14)) * sizeof(float);
  float* h_prices = new float[ASSETS * DAYS];
  float* h_rsi = new float[ASSETS * (DAYS - 14)];
  read_binary("data/prices.bin", h_prices, prices_bytes);

  float* d_prices = nullptr;
  float* d_rsi = nullptr;
  cudaMalloc(&d_prices, prices_bytes);
  cudaMalloc(&d_rsi, rsi_bytes);
  cudaMemcpy(d_prices, h_prices, prices_bytes, cudaMemcpyHostToDevice);

  rsi_tiles<<<CEIL_DIV(ASSETS, TILE), TILE>>>(d_prices, d_rsi);

  cudaMemcpy(h_rsi, d_rsi, rsi_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/rsi.bin", h_rsi, rsi_bytes);

  cudaFree(d_prices);
  cudaFree(d_rsi);
  delete[] h_prices;
  delete[] h_rsi;
  return 0;
}
