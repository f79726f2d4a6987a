#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_raw(const std::string& path, void* ptr, size_t num_bytes) {
  std::ifstream in(path, std::ios::binary);
  in.read(static_cast<char*>(ptr), num_bytes);
  if (!in) {
    std::cerr << "cannot read " << path << std::endl;
    exit(1);
  }
}

void save_raw(const std::string& path, const void* ptr, size_t num_bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(ptr), num_bytes);
}
//@given

static const int IMAGES = 6;
static const int PIXELS = 3000;
static const int CLASSES = 5;
static const int TOTAL = IMAGES * PIXELS;

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

__global__ void count_classes(const int* __restrict__ truth, const int* __restrict__ pred,
        int2* __restrict__ counts) {
  __shared__ int same[CLASSES], differ[CLASSES];
  const int image = blockIdx.y;
  if (threadIdx.x < CLASSES) same[threadIdx.x] = differ[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < PIXELS; i += gridDim.x * blockDim.x) {
    const int t = truth[(size_t)image * PIXELS + i], p = pred[(size_t)image * PIXELS + i];
    if (t == p) {
      atomicAdd(&same[t], 1);
    } else {
      atomicAdd(&differ[t], 1);
      atomicAdd(&differ[p], 1);
    }
  }
  __syncthreads();
  if (threadIdx.x < CLASSES) {
    int2* c = counts + image * CLASSES + threadIdx.x;
    atomicAdd(&c->x, same[threadIdx.x]);
    atomicAdd(&c->y, differ[threadIdx.x]);
  }
}

// union = same + differ
__global__ void average_iou(const int2* counts, float* miou, int* present) {
  const int image = blockIdx.x * blockDim.x + threadIdx.x;
  if (image >= IMAGES) return;
  float sum = 0.0f;
  int found = 0;
  for (int c = 0; c < CLASSES; ++c) {
    const int2 n = counts[image * CLASSES + c];
    if (n.x + n.y == 0) continue;
    sum += (float)n.x / (float)(n.x + n.y);
    ++found;
  }
  miou[image] = sum / found;
  present[image] = found;
}

int main() {
  const size_t bytes_truth = TOTAL * sizeof(int);
  const size_t miou_bytes = IMAGES * sizeof(float);
  const size_t bytes_present = IMAGES * sizeof(int);
  int* hTruth = new int[TOTAL];
  int* hPred = new int[TOTAL];
  float* hMiou = new float[IMAGES];
  int* hPresent = new int[IMAGES];
  load_raw("data/truth.bin", hTruth, bytes_truth);
  load_raw("data/pred.bin", hPred, bytes_truth);

  int *d_truth, *d_pred, *d_present, *d_counts;
  float* d_miou;
  cudaMalloc(&d_truth, bytes_truth);
  cudaMalloc(&d_pred, bytes_truth);
  cudaMalloc(&d_miou, miou_bytes);
  cudaMalloc(&d_present, bytes_present);
  cudaMalloc(&d_counts, IMAGES * CLASSES * 2 * sizeof(int));
  cudaMemcpy(d_truth, hTruth, bytes_truth, cudaMemcpyHostToDevice);
  cudaMemcpy(d_pred, hPred, bytes_truth, cudaMemcpyHostToDevice);
  cudaMemset(d_counts, 0, IMAGES * CLASSES * 2 * sizeof(int));

  count_classes<<<dim3(16, IMAGES), 256>>>(d_truth, d_pred, (int2*)d_counts);
  average_iou<<<ceil_div(IMAGES, 64), 64>>>((const int2*)d_counts, d_miou, d_present);

  cudaMemcpy(hMiou, d_miou, miou_bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(hPresent, d_present, bytes_present, cudaMemcpyDeviceToHost);
  save_raw("data/miou.bin", hMiou, miou_bytes);
  save_raw("data/present.bin", hPresent, bytes_present);

  cudaFree(d_truth);
  cudaFree(d_pred);
  cudaFree(d_miou);
  cudaFree(d_present);
  cudaFree(d_counts);
  delete[] hTruth;
  delete[] hPred;
  delete[] hMiou;
  delete[] hPresent;
  return 0;
}
