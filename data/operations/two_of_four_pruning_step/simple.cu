#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <vector>

#define CEIL_DIV(x, y) (((x) + (y) - 1) / (y))

const int kGroups = 4000;
const int kTotal = kGroups * 4;

__global__ void prune_step(const float* weight, const float* grad, float* weight_out, unsigned char* kept,
        int groups) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  const float* w = weight + 4 * g;
  int first = 0;
  for (int k = 1; k < 4; k++) {
    if (fabsf(w[k]) > fabsf(w[first])) first = k;
  }
  int second = first == 0 ? 1 : 0;
  for (int k = 0; k < 4; k++) {
    if (k != first && fabsf(w[k]) > fabsf(w[second])) second = k;
  }
  for (int k = 0; k < 4; k++) {
    float step = grad[4 * g + k];
    if (k != first && k != second) step += 0.2f * w[k];
    weight_out[4 * g + k] = w[k] - 0.05f * step;
  }
  kept[g] = (unsigned char)((1 << first) | (1 << second));
}

void compute(const float* d_weight, const float* d_grad, float* d_weight_out,
       unsigned char* d_kept) {
  prune_step<<<CEIL_DIV(kGroups, 256), 256>>>(d_weight, d_grad, d_weight_out, d_kept, kGroups);
}

int main() {
  std::vector<float> hWeight(kTotal), hGrad(kTotal), h_weight_out(kTotal);
  std::vector<unsigned char> hKept(kGroups);
  std::ifstream weight_in("data/weight.bin", std::ios::binary);
  weight_in.read(reinterpret_cast<char*>(hWeight.data()), kTotal * sizeof(float));
  std::ifstream grad_in("data/grad.bin", std::ios::binary);
  grad_in.read(reinterpret_cast<char*>(hGrad.data()), kTotal * sizeof(float));
  if (!weight_in || !grad_in) {
    std::cerr << "input error" << std::endl;
    return 1;
  }

  float* d_weight = nullptr;
  float* d_grad = nullptr;
  float* d_weight_out = nullptr;
  unsigned char* d_kept = nullptr;
  cudaMalloc(&d_weight, kTotal * sizeof(float));
  cudaMalloc(&d_grad, kTotal * sizeof(float));
  cudaMalloc(&d_weight_out, kTotal * sizeof(float));
  cudaMalloc(&d_kept, kGroups * sizeof(unsigned char));
  cudaMemcpy(d_weight, hWeight.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_grad, hGrad.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);

  compute(d_weight, d_grad, d_weight_out, d_kept);
  cudaDeviceSynchronize();

  cudaMemcpy(h_weight_out.data(), d_weight_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(hKept.data(), d_kept, kGroups * sizeof(unsigned char), cudaMemcpyDeviceToHost);
  std::ofstream weight_out_out("data/weight_out.bin", std::ios::binary);
  weight_out_out.write(reinterpret_cast<const char*>(h_weight_out.data()), kTotal * sizeof(float));
  std::ofstream kept_out("data/kept.bin", std::ios::binary);
  kept_out.write(reinterpret_cast<const char*>(hKept.data()), kGroups * sizeof(unsigned char));

  cudaFree(d_weight);
  cudaFree(d_grad);
  cudaFree(d_weight_out);
  cudaFree(d_kept);
  return 0;
}
