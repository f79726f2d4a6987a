#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 15000;
constexpr int kBins = 10;

constexpr int kWarps = 8;

// Every warp has its own table; the bin is found by bisection.
__global__ void bins_per_warp(const float* __restrict__ confidence, const unsigned char* __restrict__ correct,
                const float* __restrict__ upper, double* __restrict__ gap, int* __restrict__ count) {
  __shared__ float diff[kWarps][kBins];
  __shared__ int seen[kWarps][kBins];
  __shared__ float edges[kBins];
  const int warp = threadIdx.x / 32;
  for (int b = threadIdx.x % 32; b < kBins; b += 32) {
    diff[warp][b] = 0.0f;
    seen[warp][b] = 0;
  }
  if (threadIdx.x < kBins) edges[threadIdx.x] = upper[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += gridDim.x * blockDim.x) {
    const float c = confidence[i];
    int b = 0, last = kBins - 1;
    while (b < last) {
      const int mid = (b + last) / 2;
      if (c < edges[mid]) last = mid;
      else b = mid + 1;
    }
    atomicAdd(&diff[warp][b], correct[i] ? c - 1.0f : c);
    atomicAdd(&seen[warp][b], 1);
  }
  __syncthreads();
  if (threadIdx.x < kBins) {
    double d = 0.0;
    int s = 0;
    for (int w = 0; w < kWarps; ++w) {
      d += diff[w][threadIdx.x];
      s += seen[w][threadIdx.x];
    }
    atomicAdd(&gap[threadIdx.x], d);
    atomicAdd(&count[threadIdx.x], s);
  }
}

__global__ void total_gap(const double* gap, float* ece) {
  double v = threadIdx.x < kBins ? fabs(gap[threadIdx.x]) : 0.0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x == 0) ece[0] = (float)(v / kN);
}

void launch(const float* d_confidence, const unsigned char* d_correct, const float* d_upper,
      float* d_ece, int* d_count, double* d_gap) {
  cudaMemset(d_gap, 0, kBins * sizeof(double));
  cudaMemset(d_count, 0, kBins * sizeof(int));
  bins_per_warp<<<256, 32 * kWarps>>>(d_confidence, d_correct, d_upper, d_gap, d_count);
  total_gap<<<1, 32>>>(d_gap, d_ece);
}

int main() {
  std::vector<float> host_confidence(kN);
  std::vector<unsigned char> host_correct(kN);
  std::vector<float> host_upper(kBins);
  std::vector<float> host_ece(1);
  std::vector<int> host_count(kBins);
  std::ifstream confidence_in("data/confidence.bin", std::ios::binary);
  confidence_in.read(reinterpret_cast<char*>(host_confidence.data()), kN * sizeof(float));
  std::ifstream correct_in("data/correct.bin", std::ios::binary);
  correct_in.read(reinterpret_cast<char*>(host_correct.data()), kN * sizeof(unsigned char));
  std::ifstream upper_in("data/upper.bin", std::ios::binary);
  upper_in.read(reinterpret_cast<char*>(host_upper.data()), kBins * sizeof(float));
  if (!confidence_in || !correct_in || !upper_in) {
    std::cerr << "missing or short input file" << std::endl;
    return 1;
  }

  float *d_confidence, *d_upper, *d_ece;
  unsigned char* d_correct;
  int* d_count;
  double* d_gap;
  cudaMalloc(&d_confidence, kN * sizeof(float));
  cudaMalloc(&d_correct, kN * sizeof(unsigned char));
  cudaMalloc(&d_upper, kBins * sizeof(float));
  cudaMalloc(&d_ece, sizeof(float));
  cudaMalloc(&d_count, kBins * sizeof(int));
  cudaMalloc(&d_gap, kBins * sizeof(double));
  cudaMemcpy(d_confidence, host_confidence.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_correct, host_correct.data(), kN * sizeof(unsigned char), cudaMemcpyHostToDevice);
  cudaMemcpy(d_upper, host_upper.data(), kBins * sizeof(float), cudaMemcpyHostToDevice);

  launch(d_confidence, d_correct, d_upper, d_ece, d_count, d_gap);
  cudaDeviceSynchronize();

  cudaMemcpy(host_ece.data(), d_ece, sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_count.data(), d_count, kBins * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream ece_out("data/ece.bin", std::ios::binary);
  ece_out.write(reinterpret_cast<const char*>(host_ece.data()), sizeof(float));
  std::ofstream count_out("data/count.bin", std::ios::binary);
  count_out.write(reinterpret_cast<const char*>(host_count.data()), kBins * sizeof(int));
  cudaFree(d_confidence);
  cudaFree(d_correct);
  cudaFree(d_upper);
  cudaFree(d_ece);
  cudaFree(d_count);
  cudaFree(d_gap);
  return 0;
}
