#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int kRows = 200;
const int kClasses = 100;

__global__ void poly_loss(const float* logits, const int* labels, float* loss, int classes) {
  __shared__ float buf[256];
  int t = threadIdx.x;
  const float* x = logits + (size_t)blockIdx.x * classes;

  float top = -INFINITY;
  for (int k = t; k < classes; k += 256) top = fmaxf(top, x[k]);
  buf[t] = top;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
    __syncthreads();
  }
  top = buf[0];
  __syncthreads();

  float sum = 0.0f;
  for (int k = t; k < classes; k += 256) sum += expf(x[k] - top);
  buf[t] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  if (t == 0) {
    float logp = x[labels[blockIdx.x]] - top - logf(buf[0]);
    loss[blockIdx.x] = -logp + 2.0f * (1.0f - expf(logp));
  }
}

void solve(const float* d_logits, const int* d_labels, float* d_loss) {
  poly_loss<<<kRows, 256>>>(d_logits, d_labels, d_loss, kClasses);
}

int main() {
  std::vector<float> h_logits(kRows * kClasses), h_loss(kRows);
  std::vector<int> h_labels(kRows);
  std::ifstream logits_in("data/logits.bin", std::ios::binary);
  logits_in.read(reinterpret_cast<char*>(h_logits.data()), kRows * kClasses * sizeof(float));
  std::ifstream labels_in("data/labels.bin", std::ios::binary);
  labels_in.read(reinterpret_cast<char*>(h_labels.data()), kRows * sizeof(int));
  if (!logits_in || !labels_in) {
    std::cerr << "missing or short input file" << std::endl;
    return 1;
  }

  float *d_logits, *d_loss;
  int* d_labels;
  cudaMalloc(&d_logits, kRows * kClasses * sizeof(float));
  cudaMalloc(&d_labels, kRows * sizeof(int));
  cudaMalloc(&d_loss, kRows * sizeof(float));
  cudaMemcpy(d_logits, h_logits.data(), kRows * kClasses * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_labels, h_labels.data(), kRows * sizeof(int), cudaMemcpyHostToDevice);

  solve(d_logits, d_labels, d_loss);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "launch failed" << std::endl;
    return 1;
  }

  cudaMemcpy(h_loss.data(), d_loss, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream loss_out("data/loss.bin", std::ios::binary);
  loss_out.write(reinterpret_cast<const char*>(h_loss.data()), kRows * sizeof(float));

  cudaFree(d_logits);
  cudaFree(d_labels);
  cudaFree(d_loss);
  return 0;
}
