#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t size) {
  std::vector<T> v(size);
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(v.data()), size * sizeof(T));
  if (!stream) {
    std::cerr << "short file: " << path << std::endl;
    std::exit(1);
  }
  return v;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& v) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

const int kBatch = 2;
const int kClasses = 4;
const int kPixels = 1500;
const int kTotal = kBatch * kClasses * kPixels;

// sums holds TP, FP and FN for each class; the grid is (chunks of pixels, class, image).
__global__ void tversky_sums(const float* __restrict__ probs, const int* __restrict__ labels,
        float* __restrict__ sums) {
  const int c = blockIdx.y, n = blockIdx.z;
  const float* p = probs + (size_t)(n * kClasses + c) * kPixels;
  const int* g = labels + (size_t)n * kPixels;
  float v[3] = {0.0f, 0.0f, 0.0f};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kPixels; i += gridDim.x * blockDim.x) {
    const int label = g[i];
    const float q = p[i];
    v[0] += label == c ? q : 0.0f;
    v[1] += label != c && label != 255 ? q : 0.0f;
    v[2] += label == c ? 1.0f - q : 0.0f;
  }
  for (int k = 0; k < 3; ++k) {
    for (int d = 16; d > 0; d /= 2) v[k] += __shfl_down_sync(0xffffffffu, v[k], d);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[3 * c + k], v[k]);
  }
}

__global__ void tversky_ratio(const float* sums, float* loss) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kClasses) return;
  const float tp = sums[3 * c], fp = sums[3 * c + 1], fn = sums[3 * c + 2];
  loss[c] = (0.3f * fp + 0.7f * fn) / (tp + 0.3f * fp + 0.7f * fn + 1.0f);
}

constexpr auto div_up(int a, int b) { return (a + b - 1) / b; }

int main() {
  const auto hProbs = load_file<float>("data/probs.bin", kTotal);
  const auto hLabels = load_file<int>("data/labels.bin", kBatch * kPixels);
  std::vector<float> hLoss(kClasses);

  float* d_probs;
  cudaMalloc(&d_probs, kTotal * sizeof(float));
  int* d_labels;
  cudaMalloc(&d_labels, kBatch * kPixels * sizeof(int));
  float* d_loss;
  cudaMalloc(&d_loss, kClasses * sizeof(float));
  float* d_sums;
  cudaMalloc(&d_sums, kClasses * 3 * sizeof(float));
  cudaMemcpy(d_probs, hProbs.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_labels, hLabels.data(), kBatch * kPixels * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_sums, 0, kClasses * 3 * sizeof(float));

  tversky_sums<<<dim3(8, kClasses, kBatch), 256>>>(d_probs, d_labels, d_sums);
  tversky_ratio<<<div_up(kClasses, 64), 64>>>(d_sums, d_loss);

  if (auto status = cudaDeviceSynchronize(); status != cudaSuccess) {
    std::cerr << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaMemcpy(hLoss.data(), d_loss, kClasses * sizeof(float), cudaMemcpyDeviceToHost);
  store_file("data/loss.bin", hLoss);
  cudaFree(d_probs);
  cudaFree(d_labels);
  cudaFree(d_loss);
  cudaFree(d_sums);
  return 0;
}
