#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
  std::vector<T> result(count);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(result.data()), count * sizeof(T));
  if (!in) {
    std::cerr << "short file: " << path << std::endl;
    std::exit(1);
  }
  return result;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& result) {
  std::ofstream in(path, std::ios::binary);
  in.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(T));
}
//@given

const int kCases = 300;
const int kMembers = 20;

// A warp a case with the members in shared memory; each lane takes every 32nd member.
__global__ void crps_warp(const float* __restrict__ ensemble, const float* __restrict__ observed,
              float* __restrict__ crps) {
  __shared__ float members[4][kMembers];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int i = blockIdx.x * 4 + warp;
  if (i >= kCases) return;
  float* x = members[warp];
  for (int j = lane; j < kMembers; j += 32) x[j] = ensemble[(size_t)i * kMembers + j];
  __syncwarp();
  const float y = observed[i];
  float error = 0.0f, pairs = 0.0f;
  for (int j = lane; j < kMembers; j += 32) {
    const float mine = x[j];
    float sum = 0.0f;
    for (int k = 0; k < kMembers; ++k) sum += fabsf(mine - x[k]);
    pairs += sum;
    error += fabsf(mine - y);
  }
  for (int d = 16; d > 0; d >>= 1) {
    error += __shfl_xor_sync(0xffffffffu, error, d);
    pairs += __shfl_xor_sync(0xffffffffu, pairs, d);
  }
  if (lane == 0) {
    const float inv = 1.0f / kMembers;
    crps[i] = (error - 0.5f * pairs * inv) * inv;
  }
}

int main() {
  const auto host_ensemble = load<float>("data/ensemble.bin", kCases * kMembers);
  const auto host_observed = load<float>("data/observed.bin", kCases);

  float* d_ensemble = nullptr;
  float* d_observed = nullptr;
  float* d_crps = nullptr;
  cudaMalloc(&d_ensemble, kCases * kMembers * sizeof(float));
  cudaMalloc(&d_observed, kCases * sizeof(float));
  cudaMalloc(&d_crps, kCases * sizeof(float));
  cudaMemcpy(d_ensemble, host_ensemble.data(), kCases * kMembers * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_observed, host_observed.data(), kCases * sizeof(float), cudaMemcpyHostToDevice);

  crps_warp<<<(kCases + 3) / 4, 128>>>(d_ensemble, d_observed, d_crps);

  const auto status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "CUDA: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  std::vector<float> host_crps(kCases);
  cudaMemcpy(host_crps.data(), d_crps, kCases * sizeof(float), cudaMemcpyDeviceToHost);
  store("data/crps.bin", host_crps);

  cudaFree(d_ensemble);
  cudaFree(d_observed);
  cudaFree(d_crps);
  return 0;
}
