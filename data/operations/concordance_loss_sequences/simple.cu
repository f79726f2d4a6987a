#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int kSequences = 100;
const int kFrames = 200;
const int kCount = kSequences * kFrames;

__device__ float reduce(float v, float* buf) {
  int t = threadIdx.x;
  __syncthreads();
  buf[t] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  return buf[0];
}

__global__ void concordance(const float* pred, const float* truth, float* loss, int frames) {
  __shared__ float buf[256];
  const float* p = pred + (size_t)blockIdx.x * frames;
  const float* t = truth + (size_t)blockIdx.x * frames;
  float sp = 0.0f, st = 0.0f;
  for (int k = threadIdx.x; k < frames; k += blockDim.x) {
    sp += p[k];
    st += t[k];
  }
  float mp = reduce(sp, buf) / frames;
  float mt = reduce(st, buf) / frames;
  float spp = 0.0f, stt = 0.0f, spt = 0.0f;
  for (int k = threadIdx.x; k < frames; k += blockDim.x) {
    float a = p[k] - mp, b = t[k] - mt;
    spp += a * a;
    stt += b * b;
    spt += a * b;
  }
  float vp = reduce(spp, buf) / frames;
  float vt = reduce(stt, buf) / frames;
  float cov = reduce(spt, buf) / frames;
  if (threadIdx.x == 0) {
    loss[blockIdx.x] = 1.0f - 2.0f * cov / (vp + vt + (mp - mt) * (mp - mt) + 1e-8f);
  }
}

void compute(const float* d_pred, const float* d_truth, float* d_loss) {
  concordance<<<kSequences, 256>>>(d_pred, d_truth, d_loss, kFrames);
}

int main() {
  std::vector<float> h_pred(kCount), h_truth(kCount), h_loss(kSequences);
  std::ifstream pred_in("data/pred.bin", std::ios::binary);
  pred_in.read(reinterpret_cast<char*>(h_pred.data()), kCount * sizeof(float));
  std::ifstream truth_in("data/truth.bin", std::ios::binary);
  truth_in.read(reinterpret_cast<char*>(h_truth.data()), kCount * sizeof(float));
  if (!pred_in || !truth_in) {
    std::cerr << "cannot read the inputs" << std::endl;
    return 1;
  }

  float* d_pred = nullptr;
  float* d_truth = nullptr;
  float* d_loss = nullptr;
  cudaMalloc(&d_pred, kCount * sizeof(float));
  cudaMalloc(&d_truth, kCount * sizeof(float));
  cudaMalloc(&d_loss, kSequences * sizeof(float));
  cudaMemcpy(d_pred, h_pred.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_truth, h_truth.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);

  compute(d_pred, d_truth, d_loss);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "launch failed" << std::endl;
    return 1;
  }

  cudaMemcpy(h_loss.data(), d_loss, kSequences * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream loss_out("data/loss.bin", std::ios::binary);
  loss_out.write(reinterpret_cast<const char*>(h_loss.data()), kSequences * sizeof(float));

  cudaFree(d_pred);
  cudaFree(d_truth);
  cudaFree(d_loss);
  return 0;
}
