#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int kImages = 6;
constexpr int kPixels = 3000;
constexpr int kClasses = 5;

static bool read_exact(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  size_t got = fread(dst, 1, bytes, f);
  fclose(f);
  return got == bytes;
}

__global__ void mean_iou(const int* truth, const int* pred, float* miou, int* present) {
  __shared__ int both[kClasses], either[kClasses];
  for (int c = threadIdx.x; c < kClasses; c += blockDim.x) both[c] = either[c] = 0;
  __syncthreads();
  size_t base = (size_t)blockIdx.x * kPixels;
  for (int i = threadIdx.x; i < kPixels; i += blockDim.x) {
    int t = truth[base + i], p = pred[base + i];
    atomicAdd(&either[t], 1);
    if (t == p) atomicAdd(&both[t], 1);
    else atomicAdd(&either[p], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    int found = 0;
    for (int c = 0; c < kClasses; c++) {
      if (either[c] > 0) {
        sum += (float)both[c] / either[c];
        found++;
      }
    }
    miou[blockIdx.x] = sum / found;
    present[blockIdx.x] = found;
  }
}

int main() {
  int* truth = nullptr;
  int* pred = nullptr;
  float* miou = nullptr;
  int* present = nullptr;
  cudaMallocManaged(&truth, kImages * kPixels * sizeof(int));
  cudaMallocManaged(&pred, kImages * kPixels * sizeof(int));
  cudaMallocManaged(&miou, kImages * sizeof(float));
  cudaMallocManaged(&present, kImages * sizeof(int));

  if (!read_exact("data/truth.bin", truth, kImages * kPixels * sizeof(int)) ||
    !read_exact("data/pred.bin", pred, kImages * kPixels * sizeof(int))) {
    fprintf(stderr, "cannot read the inputs\n");
    return 1;
  }

  mean_iou<<<kImages, 256>>>(truth, pred, miou, present);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }

  FILE* miou_file = fopen("data/miou.bin", "wb");
  if (!miou_file) return 1;
  fwrite(miou, sizeof(float), kImages, miou_file);
  fclose(miou_file);
  FILE* present_file = fopen("data/present.bin", "wb");
  if (!present_file) return 1;
  fwrite(present, sizeof(int), kImages, present_file);
  fclose(present_file);

  cudaFree(truth);
  cudaFree(pred);
  cudaFree(miou);
  cudaFree(present);
  return 0;
}
