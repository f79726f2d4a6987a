#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int SNAPSHOTS = 2000;
constexpr int LEVELS = 10;
constexpr int BOOKS = 64;

inline void cuda_check(cudaError_t status, const char* msg) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(status));
    exit(1);
  }
}

static bool load_bin(const char* path, std::vector<float>& v) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  size_t got = fread(v.data(), sizeof(float), v.size(), f);
  fclose(f);
  return got == v.size();
}

static bool store_bin(const char* path, const std::vector<float>& v) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  size_t put = fwrite(v.data(), sizeof(float), v.size(), f);
  fclose(f);
  return put == v.size();
}

// A block brings 64 books into shared memory with coalesced loads, then every thread sums one of them.
__global__ void summarize_staged(const float* __restrict__ bid_price, const float* __restrict__ ask_price,
                                 const float* __restrict__ bid_size, const float* __restrict__ ask_size,
                                 float* __restrict__ imbalance, float* __restrict__ microprice) {
  __shared__ float bids[BOOKS][LEVELS + 1], asks[BOOKS][LEVELS + 1];
  const int first = blockIdx.x * BOOKS;
  const int books = min(BOOKS, SNAPSHOTS - first);
  for (int k = threadIdx.x; k < books * LEVELS; k += BOOKS) {
    bids[k / LEVELS][k % LEVELS] = bid_size[(size_t)first * LEVELS + k];
    asks[k / LEVELS][k % LEVELS] = ask_size[(size_t)first * LEVELS + k];
  }
  __syncthreads();
  const int t = threadIdx.x;
  if (t >= books) return;
  // Horner's rule from the deepest level upwards.
  float b = 0.0f, a = 0.0f;
  for (int l = LEVELS - 1; l >= 0; --l) {
    b = fmaf(0.8f, b, bids[t][l]);
    a = fmaf(0.8f, a, asks[t][l]);
  }
  const float sum = b + a, top = bids[t][0] + asks[t][0];
  const float low = bid_price[first + t], high = ask_price[first + t];
  const float share = top > 0.0f ? bids[t][0] / top : 0.5f;
  imbalance[first + t] = sum > 0.0f ? (b - a) / sum : 0.0f;
  microprice[first + t] = low + share * (high - low);
}

int main() {
  const size_t total = (size_t)SNAPSHOTS * LEVELS;
  std::vector<float> h_bid_price(SNAPSHOTS);
  std::vector<float> h_ask_price(SNAPSHOTS);
  std::vector<float> h_bid_size(total);
  std::vector<float> h_ask_size(total);
  std::vector<float> h_imbalance(SNAPSHOTS);
  std::vector<float> h_microprice(SNAPSHOTS);
  if (!load_bin("data/bid_price.bin", h_bid_price)) {
    fprintf(stderr, "cannot read data/bid_price.bin\n");
    return 1;
  }
  if (!load_bin("data/ask_price.bin", h_ask_price)) {
    fprintf(stderr, "cannot read data/ask_price.bin\n");
    return 1;
  }
  if (!load_bin("data/bid_size.bin", h_bid_size)) {
    fprintf(stderr, "cannot read data/bid_size.bin\n");
    return 1;
  }
  if (!load_bin("data/ask_size.bin", h_ask_size)) {
    fprintf(stderr, "cannot read data/ask_size.bin\n");
    return 1;
  }

  float* dev_bid_price = nullptr;
  cuda_check(cudaMalloc(&dev_bid_price, SNAPSHOTS * sizeof(float)), "malloc dev_bid_price");
  cuda_check(cudaMemcpy(dev_bid_price, h_bid_price.data(), SNAPSHOTS * sizeof(float),
      cudaMemcpyHostToDevice), "copy dev_bid_price");
  float* dev_ask_price = nullptr;
  cuda_check(cudaMalloc(&dev_ask_price, SNAPSHOTS * sizeof(float)), "malloc dev_ask_price");
  cuda_check(cudaMemcpy(dev_ask_price, h_ask_price.data(), SNAPSHOTS * sizeof(float),
      cudaMemcpyHostToDevice), "copy dev_ask_price");
  float* dev_bid_size = nullptr;
  cuda_check(cudaMalloc(&dev_bid_size, total * sizeof(float)), "malloc dev_bid_size");
  cuda_check(cudaMemcpy(dev_bid_size, h_bid_size.data(), total * sizeof(float), cudaMemcpyHostToDevice),
      "copy dev_bid_size");
  float* dev_ask_size = nullptr;
  cuda_check(cudaMalloc(&dev_ask_size, total * sizeof(float)), "malloc dev_ask_size");
  cuda_check(cudaMemcpy(dev_ask_size, h_ask_size.data(), total * sizeof(float), cudaMemcpyHostToDevice),
      "copy dev_ask_size");
  float* dev_imbalance = nullptr;
  cuda_check(cudaMalloc(&dev_imbalance, SNAPSHOTS * sizeof(float)), "malloc dev_imbalance");
  float* dev_microprice = nullptr;
  cuda_check(cudaMalloc(&dev_microprice, SNAPSHOTS * sizeof(float)), "malloc dev_microprice");

  summarize_staged<<<(SNAPSHOTS + BOOKS - 1) / BOOKS, BOOKS>>>(dev_bid_price, dev_ask_price, dev_bid_size,
      dev_ask_size, dev_imbalance,
                           dev_microprice);
  cuda_check(cudaGetLastError(), "launch");
  cuda_check(cudaMemcpy(h_imbalance.data(), dev_imbalance, SNAPSHOTS * sizeof(float),
      cudaMemcpyDeviceToHost), "copy h_imbalance");
  cuda_check(cudaMemcpy(h_microprice.data(), dev_microprice, SNAPSHOTS * sizeof(float),
      cudaMemcpyDeviceToHost), "copy h_microprice");

  if (!store_bin("data/imbalance.bin", h_imbalance)) return 1;
  if (!store_bin("data/microprice.bin", h_microprice)) return 1;
  cudaFree(dev_bid_price);
  cudaFree(dev_ask_price);
  cudaFree(dev_bid_size);
  cudaFree(dev_ask_size);
  cudaFree(dev_imbalance);
  cudaFree(dev_microprice);
  return 0;
}
