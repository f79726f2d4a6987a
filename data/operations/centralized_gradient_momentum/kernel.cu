#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void get_tensor(const std::string& path, void* mem, size_t size) {
  std::ifstream in(path, std::ios::binary);
  in.read(static_cast<char*>(mem), size);
  if (!in) {
    std::cerr << "cannot read " << path << std::endl;
    exit(1);
  }
}

void put_tensor(const std::string& path, const void* mem, size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(mem), size);
}
//@given

#define FILTERS 60
#define TAPS 180
#define TOTAL (FILTERS * TAPS)

// Mean and update in one kernel; the decayed gradients of the row wait in shared memory.
__global__ void centralized_step(const float* __restrict__ weight, const float* __restrict__ grad,
                 const float* __restrict__ buffer, float* __restrict__ weight_out,
                 float* __restrict__ buffer_out) {
  __shared__ float g[TAPS];
  __shared__ float warps[4];
  const size_t base = (size_t)blockIdx.x * TAPS;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < TAPS; k += 128) {
    const float v = fmaf(0.0005f, weight[base + k], grad[base + k]);
    g[k] = v;
    sum += v;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  const float mean = (warps[0] + warps[1] + warps[2] + warps[3]) / TAPS;
  for (int k = threadIdx.x; k < TAPS; k += 128) {
    const float c = g[k] - mean;
    const float b = fmaf(0.9f, buffer[base + k], c);
    buffer_out[base + k] = b;
    weight_out[base + k] = weight[base + k] - 0.05f * fmaf(0.9f, b, c);
  }
}

int main() {
  const size_t bytes_weight = TOTAL * sizeof(float);
  float* hWeight = new float[TOTAL];
  float* hGrad = new float[TOTAL];
  float* hBuffer = new float[TOTAL];
  float* h_weight_out = new float[TOTAL];
  float* h_buffer_out = new float[TOTAL];
  get_tensor("data/weight.bin", hWeight, bytes_weight);
  get_tensor("data/grad.bin", hGrad, bytes_weight);
  get_tensor("data/buffer.bin", hBuffer, bytes_weight);

  float* dev_weight;
  float* dev_grad;
  float* dev_buffer;
  float* dev_weight_out;
  float* dev_buffer_out;
  cudaMalloc(&dev_weight, bytes_weight);
  cudaMalloc(&dev_grad, bytes_weight);
  cudaMalloc(&dev_buffer, bytes_weight);
  cudaMalloc(&dev_weight_out, bytes_weight);
  cudaMalloc(&dev_buffer_out, bytes_weight);
  cudaMemcpy(dev_weight, hWeight, bytes_weight, cudaMemcpyHostToDevice);
  cudaMemcpy(dev_grad, hGrad, bytes_weight, cudaMemcpyHostToDevice);
  cudaMemcpy(dev_buffer, hBuffer, bytes_weight, cudaMemcpyHostToDevice);

  centralized_step<<<FILTERS, 128>>>(dev_weight, dev_grad, dev_buffer, dev_weight_out, dev_buffer_out);

  cudaMemcpy(h_weight_out, dev_weight_out, bytes_weight, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_buffer_out, dev_buffer_out, bytes_weight, cudaMemcpyDeviceToHost);
  put_tensor("data/weight_out.bin", h_weight_out, bytes_weight);
  put_tensor("data/buffer_out.bin", h_buffer_out, bytes_weight);

  cudaFree(dev_weight);
  cudaFree(dev_grad);
  cudaFree(dev_buffer);
  cudaFree(dev_weight_out);
  cudaFree(dev_buffer_out);
  delete[] hWeight;
  delete[] hGrad;
  delete[] hBuffer;
  delete[] h_weight_out;
  delete[] h_buffer_out;
  return 0;
}
