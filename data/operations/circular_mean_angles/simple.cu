#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 50
#define COLS 360
#define BLOCK 128

__global__ void circular_mean(const float* angle, float* direction, float* resultant) {
  __shared__ float cs[BLOCK], sn[BLOCK];
  const float* row = angle + (size_t)blockIdx.x * COLS;
  int t = threadIdx.x;
  float c = 0.0f, s = 0.0f;
  for (int i = t; i < COLS; i += BLOCK) {
    c += cosf(row[i]);
    s += sinf(row[i]);
  }
  cs[t] = c;
  sn[t] = s;
  __syncthreads();
  for (int h = BLOCK / 2; h > 0; h /= 2) {
    if (t < h) {
      cs[t] += cs[t + h];
      sn[t] += sn[t + h];
    }
    __syncthreads();
  }
  if (t == 0) {
    c = cs[0] / COLS;
    s = sn[0] / COLS;
    direction[blockIdx.x] = atan2f(s, c);
    resultant[blockIdx.x] = sqrtf(c * c + s * s);
  }
}

int main() {
  const size_t count = (size_t)ROWS * COLS;
  std::vector<float> h_angle(count), h_direction(ROWS), h_resultant(ROWS);
  FILE* f = fopen("data/angle.bin", "rb");
  if (!f || fread(h_angle.data(), sizeof(float), count, f) != count) return 1;
  fclose(f);
  float *dev_angle, *dev_direction, *dev_resultant;
  cudaMalloc(&dev_angle, count * sizeof(float));
  cudaMalloc(&dev_direction, ROWS * sizeof(float));
  cudaMalloc(&dev_resultant, ROWS * sizeof(float));
  cudaMemcpy(dev_angle, h_angle.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  circular_mean<<<ROWS, BLOCK>>>(dev_angle, dev_direction, dev_resultant);
  cudaMemcpy(h_direction.data(), dev_direction, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_resultant.data(), dev_resultant, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* g0 = fopen("data/direction.bin", "wb");
  fwrite(h_direction.data(), sizeof(float), ROWS, g0);
  fclose(g0);
  FILE* g1 = fopen("data/resultant.bin", "wb");
  fwrite(h_resultant.data(), sizeof(float), ROWS, g1);
  fclose(g1);
  return 0;
}
