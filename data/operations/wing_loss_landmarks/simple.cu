#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int FACES = 200;
const int POINTS = 68;
const int COUNT = FACES * POINTS * 2;

__device__ float wing(float d) {
  d = fabsf(d);
  return d < 10.0f ? 10.0f * log1pf(d / 2.0f) : d - (10.0f - 10.0f * logf(6.0f));
}

__global__ void wing_loss(const float* pred, const float* truth, const int* visible, float* loss) {
  int face = blockIdx.x * blockDim.x + threadIdx.x;
  if (face >= FACES) return;
  float sum = 0.0f;
  int seen = 0;
  for (int p = 0; p < POINTS; p++) {
    int k = face * POINTS + p;
    if (visible[k]) {
      sum += wing(pred[2 * k] - truth[2 * k]) + wing(pred[2 * k + 1] - truth[2 * k + 1]);
      seen++;
    }
  }
  loss[face] = seen > 0 ? sum / seen : 0.0f;
}

int main() {
  std::vector<float> host_pred(COUNT);
  std::vector<float> host_truth(COUNT);
  std::vector<int> host_visible(FACES * POINTS);
  std::vector<float> host_loss(FACES);
  FILE* f = fopen("data/pred.bin", "rb");
  if (!f || fread(host_pred.data(), sizeof(float), host_pred.size(), f) != host_pred.size()) return -1;
  fclose(f);
  f = fopen("data/truth.bin", "rb");
  if (!f || fread(host_truth.data(), sizeof(float), host_truth.size(), f) != host_truth.size()) return -1;
  fclose(f);
  f = fopen("data/visible.bin", "rb");
  if (!f || fread(host_visible.data(), sizeof(int), host_visible.size(), f) != host_visible.size()) return -1;
  fclose(f);
  float* dev_pred = nullptr;
  float* dev_truth = nullptr;
  int* dev_visible = nullptr;
  float* dev_loss = nullptr;
  cudaMalloc(&dev_pred, COUNT * sizeof(float));
  cudaMalloc(&dev_truth, COUNT * sizeof(float));
  cudaMalloc(&dev_visible, FACES * POINTS * sizeof(int));
  cudaMalloc(&dev_loss, FACES * sizeof(float));
  cudaMemcpy(dev_pred, host_pred.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_truth, host_truth.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_visible, host_visible.data(), FACES * POINTS * sizeof(int), cudaMemcpyHostToDevice);
  wing_loss<<<(FACES + 127) / 128, 128>>>(dev_pred, dev_truth, dev_visible, dev_loss);
  cudaMemcpy(host_loss.data(), dev_loss, FACES * sizeof(float), cudaMemcpyDeviceToHost);
  f = fopen("data/loss.bin", "wb");
  fwrite(host_loss.data(), sizeof(float), host_loss.size(), f);
  fclose(f);
}
