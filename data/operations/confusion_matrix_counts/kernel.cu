#include <fstream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 20000;
constexpr int kClasses = 7;

// Each block counts in shared memory and adds its table to the result at the end.
__global__ void count_pairs_shared(const int* __restrict__ truth, const int* __restrict__ pred, int* matrix) {
  __shared__ int table[kClasses * kClasses];
  for (int k = threadIdx.x; k < kClasses * kClasses; k += blockDim.x) table[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += gridDim.x * blockDim.x) {
    const int t = truth[i];
    if (t >= 0) atomicAdd(&table[t * kClasses + pred[i]], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kClasses * kClasses; k += blockDim.x) {
    if (table[k]) atomicAdd(&matrix[k], table[k]);
  }
}

int main() {
  std::vector<int> hTruth(kN);
  std::vector<int> hPred(kN);
  std::vector<int> hMatrix(kClasses * kClasses);
  if (!std::ifstream("data/truth.bin", std::ios::binary)
       .read((char*)hTruth.data(), hTruth.size() * sizeof(int))) return 1;
  if (!std::ifstream("data/pred.bin", std::ios::binary)
       .read((char*)hPred.data(), hPred.size() * sizeof(int))) return 1;
  int* d_truth = nullptr;
  int* d_pred = nullptr;
  int* d_matrix = nullptr;
  cudaMalloc(&d_truth, kN * sizeof(int));
  cudaMalloc(&d_pred, kN * sizeof(int));
  cudaMalloc(&d_matrix, kClasses * kClasses * sizeof(int));
  cudaMemcpy(d_truth, hTruth.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_pred, hPred.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_matrix, 0, kClasses * kClasses * sizeof(int));
  count_pairs_shared<<<128, 512>>>(d_truth, d_pred, d_matrix);
  cudaMemcpy(hMatrix.data(), d_matrix, kClasses * kClasses * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream("data/matrix.bin", std::ios::binary).write((char*)hMatrix.data(), hMatrix.size() * sizeof(int));
}
