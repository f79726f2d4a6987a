#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kMicro = 4;
constexpr int kN = 5000;
constexpr int kNumElements = kMicro * kN;

// The largest magnitude of each micro-batch, as the bits of a non-negative float, which order like integers.
__global__ void largest_magnitude(const float* __restrict__ grads, int* largest) {
  const float* g = grads + (size_t)blockIdx.y * kN;
  float top = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += gridDim.x * blockDim.x) {
    top = fmaxf(top, fabsf(g[i]));
  }
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  if (threadIdx.x % 32 == 0) atomicMax(&largest[blockIdx.y], __float_as_int(top));
}

__global__ void average_sound(const float* __restrict__ grads, const float* __restrict__ loss_scale,
                const int* __restrict__ largest, float* __restrict__ mean_grad, int* __restrict__ used) {
  __shared__ int rows[kMicro];
  __shared__ int count;
  if (threadIdx.x == 0) {
    count = 0;
    for (int j = 0; j < kMicro; ++j) {
      const bool sound = __int_as_float(largest[j]) <= 65504.0f;
      if (sound) rows[count++] = j;
      if (blockIdx.x == 0) used[j] = sound;
    }
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kN) return;
  float sum = 0.0f;
  for (int k = 0; k < count; ++k) sum += grads[(size_t)rows[k] * kN + i];
  mean_grad[i] = count ? sum / (*loss_scale * (float)count) : 0.0f;
}

void launch(const float* d_grads, const float* d_loss_scale, float* d_mean_grad, int* d_used,
      int* d_largest) {
  cudaMemset(d_largest, 0, kMicro * sizeof(int));
  largest_magnitude<<<dim3(64, kMicro), 256>>>(d_grads, d_largest);
  average_sound<<<(kN + 255) / 256, 256>>>(d_grads, d_loss_scale, d_largest, d_mean_grad, d_used);
}

int main() {
  std::vector<float> h_grads(kNumElements);
  std::vector<float> h_loss_scale(1);
  std::vector<float> h_mean_grad(kN);
  std::vector<int> h_used(kMicro);
  std::ifstream grads_in("data/grads.bin", std::ios::binary);
  grads_in.read(reinterpret_cast<char*>(h_grads.data()), kNumElements * sizeof(float));
  std::ifstream loss_scale_in("data/loss_scale.bin", std::ios::binary);
  loss_scale_in.read(reinterpret_cast<char*>(h_loss_scale.data()), sizeof(float));
  if (!grads_in || !loss_scale_in) {
    std::cerr << "input error" << std::endl;
    return 1;
  }

  float *d_grads, *d_loss_scale, *d_mean_grad;
  int *d_used, *d_largest;
  cudaMalloc(&d_grads, kNumElements * sizeof(float));
  cudaMalloc(&d_loss_scale, sizeof(float));
  cudaMalloc(&d_mean_grad, kN * sizeof(float));
  cudaMalloc(&d_used, kMicro * sizeof(int));
  cudaMalloc(&d_largest, kMicro * sizeof(int));
  cudaMemcpy(d_grads, h_grads.data(), kNumElements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_loss_scale, h_loss_scale.data(), sizeof(float), cudaMemcpyHostToDevice);

  launch(d_grads, d_loss_scale, d_mean_grad, d_used, d_largest);
  cudaDeviceSynchronize();

  cudaMemcpy(h_mean_grad.data(), d_mean_grad, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_used.data(), d_used, kMicro * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream mean_grad_out("data/mean_grad.bin", std::ios::binary);
  mean_grad_out.write(reinterpret_cast<const char*>(h_mean_grad.data()), kN * sizeof(float));
  std::ofstream used_out("data/used.bin", std::ios::binary);
  used_out.write(reinterpret_cast<const char*>(h_used.data()), kMicro * sizeof(int));

  cudaFree(d_grads);
  cudaFree(d_loss_scale);
  cudaFree(d_mean_grad);
  cudaFree(d_used);
  cudaFree(d_largest);
  return 0;
}
