#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

const int SNAPSHOTS = 2000;
const int LEVELS = 10;

#define CUDA_CHECK(call)                                                                          \
  do {                                                                                          \
    cudaError_t status_ = (call);                                                             \
    if (status_ != cudaSuccess) {                                                             \
      fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(status_), __LINE__); \
      exit(1);                                                                              \
    }                                                                                         \
  } while (0)

__global__ void summarize(const float* bid_price, const float* ask_price, const float* bid_size,
                          const float* ask_size, float* imbalance, float* microprice) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= SNAPSHOTS) return;
  const float* bids = bid_size + (size_t)i * LEVELS;
  const float* asks = ask_size + (size_t)i * LEVELS;
  float b = 0.0f, a = 0.0f, w = 1.0f;
  for (int l = 0; l < LEVELS; l++) {
    b += w * bids[l];
    a += w * asks[l];
    w *= 0.8f;
  }
  imbalance[i] = b + a > 0.0f ? (b - a) / (b + a) : 0.0f;
  float top = bids[0] + asks[0];
  if (top > 0.0f) microprice[i] = (bid_price[i] * asks[0] + ask_price[i] * bids[0]) / top;
  else microprice[i] = 0.5f * (bid_price[i] + ask_price[i]);
}

int main() {
  const size_t len = (size_t)SNAPSHOTS * LEVELS;
  float* host_bid_price = (float*)malloc(SNAPSHOTS * sizeof(float));
  float* host_ask_price = (float*)malloc(SNAPSHOTS * sizeof(float));
  float* host_bid_size = (float*)malloc(len * sizeof(float));
  float* host_ask_size = (float*)malloc(len * sizeof(float));
  float* host_imbalance = (float*)malloc(SNAPSHOTS * sizeof(float));
  float* host_microprice = (float*)malloc(SNAPSHOTS * sizeof(float));

  FILE* in = fopen("data/bid_price.bin", "rb");
  if (in == NULL || fread(host_bid_price, 1, SNAPSHOTS * sizeof(float), in) != SNAPSHOTS * sizeof(float)) {
    fprintf(stderr, "failed to read data/bid_price.bin\n");
    return 1;
  }
  fclose(in);
  in = fopen("data/ask_price.bin", "rb");
  if (in == NULL || fread(host_ask_price, 1, SNAPSHOTS * sizeof(float), in) != SNAPSHOTS * sizeof(float)) {
    fprintf(stderr, "failed to read data/ask_price.bin\n");
    return 1;
  }
  fclose(in);
  in = fopen("data/bid_size.bin", "rb");
  if (in == NULL || fread(host_bid_size, 1, len * sizeof(float), in) != len * sizeof(float)) {
    fprintf(stderr, "failed to read data/bid_size.bin\n");
    return 1;
  }
  fclose(in);
  in = fopen("data/ask_size.bin", "rb");
  if (in == NULL || fread(host_ask_size, 1, len * sizeof(float), in) != len * sizeof(float)) {
    fprintf(stderr, "failed to read data/ask_size.bin\n");
    return 1;
  }
  fclose(in);

  float* d_bid_price;
  float* d_ask_price;
  float* d_bid_size;
  float* d_ask_size;
  float* d_imbalance;
  float* d_microprice;
  CUDA_CHECK(cudaMalloc(&d_bid_price, SNAPSHOTS * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_ask_price, SNAPSHOTS * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_bid_size, len * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_ask_size, len * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_imbalance, SNAPSHOTS * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_microprice, SNAPSHOTS * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(d_bid_price, host_bid_price, SNAPSHOTS * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_ask_price, host_ask_price, SNAPSHOTS * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_bid_size, host_bid_size, len * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_ask_size, host_ask_size, len * sizeof(float), cudaMemcpyHostToDevice));

  summarize<<<(SNAPSHOTS + 128 - 1) / 128, 128>>>(d_bid_price, d_ask_price, d_bid_size, d_ask_size,
      d_imbalance, d_microprice);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy(host_imbalance, d_imbalance, SNAPSHOTS * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(host_microprice, d_microprice, SNAPSHOTS * sizeof(float), cudaMemcpyDeviceToHost));

  FILE* g = fopen("data/imbalance.bin", "wb");
  if (!g || fwrite(host_imbalance, sizeof(float), SNAPSHOTS, g) != (size_t)SNAPSHOTS) {
    fprintf(stderr, "cannot write data/imbalance.bin\n");
    return 1;
  }
  fclose(g);
  g = fopen("data/microprice.bin", "wb");
  if (!g || fwrite(host_microprice, sizeof(float), SNAPSHOTS, g) != (size_t)SNAPSHOTS) {
    fprintf(stderr, "cannot write data/microprice.bin\n");
    return 1;
  }
  fclose(g);

  cudaFree(d_bid_price);
  cudaFree(d_ask_price);
  cudaFree(d_bid_size);
  cudaFree(d_ask_size);
  cudaFree(d_imbalance);
  cudaFree(d_microprice);
  free(host_bid_price);
  free(host_ask_price);
  free(host_bid_size);
  free(host_ask_size);
  free(host_imbalance);
  free(host_microprice);
  return 0;
}
