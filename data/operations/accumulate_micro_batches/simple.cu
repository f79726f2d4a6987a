#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int MICRO = 4;
static const int N = 5000;

inline void check(cudaError_t status, const char* where) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
    exit(EXIT_FAILURE);
  }
}

static bool read_raw(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

static bool write_raw(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

__global__ void set_used(int* used) {
  if (threadIdx.x < MICRO) used[threadIdx.x] = 1;
}

__global__ void find_overflow(const float* grads, int* used) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y;
  if (i < N && fabsf(grads[(size_t)j * N + i]) > 65504.0f) atomicExch(&used[j], 0);
}

__global__ void average(const float* grads, const float* loss_scale, const int* used, float* mean_grad) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float sum = 0.0f;
  int count = 0;
  for (int j = 0; j < MICRO; j++) {
    if (used[j]) {
      sum += grads[(size_t)j * N + i];
      count++;
    }
  }
  mean_grad[i] = count > 0 ? sum / (loss_scale[0] * count) : 0.0f;
}

int main() {
  std::vector<float> h_grads(MICRO * N);
  std::vector<float> h_loss_scale(1);
  std::vector<float> h_mean_grad(N);
  std::vector<int> h_used(MICRO);
  if (!read_raw("data/grads.bin", h_grads.data(), h_grads.size() * sizeof(float)) ||
    !read_raw("data/loss_scale.bin", h_loss_scale.data(), h_loss_scale.size() * sizeof(float))) {
    fprintf(stderr, "input missing\n");
    return 1;
  }

  float* d_grads = nullptr;
  float* d_loss_scale = nullptr;
  float* d_mean_grad = nullptr;
  int* d_used = nullptr;
  check(cudaMalloc(&d_grads, MICRO * N * sizeof(float)), "cudaMalloc grads");
  check(cudaMalloc(&d_loss_scale, sizeof(float)), "cudaMalloc loss_scale");
  check(cudaMalloc(&d_mean_grad, N * sizeof(float)), "cudaMalloc mean_grad");
  check(cudaMalloc(&d_used, MICRO * sizeof(int)), "cudaMalloc used");
  check(cudaMemcpy(d_grads, h_grads.data(), h_grads.size() * sizeof(float), cudaMemcpyHostToDevice), "copy grads in");
  check(cudaMemcpy(d_loss_scale, h_loss_scale.data(), h_loss_scale.size() * sizeof(float),
          cudaMemcpyHostToDevice), "copy loss_scale in");

  set_used<<<1, 32>>>(d_used);
  find_overflow<<<dim3((N + 255) / 256, MICRO), 256>>>(d_grads, d_used);
  average<<<(N + 255) / 256, 256>>>(d_grads, d_loss_scale, d_used, d_mean_grad);
  check(cudaGetLastError(), "kernel");

  check(cudaMemcpy(h_mean_grad.data(), d_mean_grad, h_mean_grad.size() * sizeof(float),
          cudaMemcpyDeviceToHost), "memcpy mean_grad");
  check(cudaMemcpy(h_used.data(), d_used, h_used.size() * sizeof(int), cudaMemcpyDeviceToHost), "memcpy used");
  if (!write_raw("data/mean_grad.bin", h_mean_grad.data(), h_mean_grad.size() * sizeof(float))) {
    fprintf(stderr, "cannot write data/mean_grad.bin\n");
    return 1;
  }
  if (!write_raw("data/used.bin", h_used.data(), h_used.size() * sizeof(int))) {
    fprintf(stderr, "cannot write data/used.bin\n");
    return 1;
  }
  cudaFree(d_grads);
  cudaFree(d_loss_scale);
  cudaFree(d_mean_grad);
  cudaFree(d_used);
  return 0;
}
