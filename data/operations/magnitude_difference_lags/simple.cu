#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>

template <typename T>
void read_from(const std::string& path, T* buffer, size_t count) {
  FILE* f = fopen(path.c_str(), "rb");
  if (!f || fread(buffer, sizeof(T), count, f) != count) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

template <typename T>
void write_to(const std::string& path, const T* buffer, size_t count) {
  FILE* f = fopen(path.c_str(), "wb");
  if (!f || fwrite(buffer, sizeof(T), count, f) != count) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

constexpr int FRAMES = 60;
const int LAGS = 200;
const int MIN_LAG = 20;

__global__ void amdf_kernel(const float* x, float* amdf) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= FRAMES * LAGS) return;
  const float* frame = x + (i / LAGS) * 512;
  int lag = i % LAGS + MIN_LAG;
  float sum = 0.0f;
  for (int t = 0; t < 256; t++) sum += fabsf(frame[t] - frame[t + lag]);
  amdf[i] = sum / 256.0f;
}

__global__ void best_lag(const float* amdf, int* best) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= FRAMES) return;
  int at = 0;
  for (int k = 1; k < LAGS; k++) {
    if (amdf[f * LAGS + k] < amdf[f * LAGS + at]) at = k;
  }
  best[f] = at + MIN_LAG;
}

int main() {
  const size_t n_x = FRAMES * 512;
  const size_t n_amdf = FRAMES * 200;
  float* h_x = new float[n_x];
  float* h_amdf = new float[n_amdf];
  int* h_best = new int[FRAMES];
  read_from("data/x.bin", h_x, n_x);

  float* d_x;
  float* d_amdf;
  int* d_best;
  cudaMalloc(&d_x, n_x * sizeof(float));
  cudaMalloc((void**)&d_amdf, n_amdf * sizeof(float));
  cudaMalloc((void**)&d_best, FRAMES * sizeof(int));
  cudaMemcpy(d_x, h_x, n_x * sizeof(float), cudaMemcpyHostToDevice);

  amdf_kernel<<<(FRAMES * LAGS + 255) / 256, 256>>>(d_x, d_amdf);
  best_lag<<<(FRAMES + 127) / 128, 128>>>(d_amdf, d_best);

  cudaMemcpy(h_amdf, d_amdf, n_amdf * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_best, d_best, FRAMES * sizeof(int), cudaMemcpyDeviceToHost);
  write_to("data/amdf.bin", h_amdf, n_amdf);
  write_to("data/best.bin", h_best, FRAMES);

  cudaFree(d_x);
  cudaFree(d_amdf);
  cudaFree(d_best);
  delete[] h_x;
  delete[] h_amdf;
  delete[] h_best;
  return 0;
}
