#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void readFile(const std::string& path, void* data, size_t bytes) {
  FILE* f = fopen(path.c_str(), "rb");
  if (f == nullptr || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

void writeFile(const std::string& path, const void* data, size_t bytes) {
  FILE* f = fopen(path.c_str(), "wb");
  if (f == nullptr || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

const int STEPS = 300;
const int CHANNELS = 80;
const int TX = 32;
const int TY = 8;
const int SPAN = (STEPS + TY - 1) / TY;

// Each thread row looks after a stretch of time; the last valid sample of every stretch goes to shared memory.
__global__ void forward_fill_stretches(const float* __restrict__ x, const unsigned char* __restrict__ valid,
                    const float* __restrict__ initial, float* __restrict__ filled) {
  __shared__ int lastValid[TY][TX];
  int k = blockIdx.x * TX + threadIdx.x;
  int begin = threadIdx.y * SPAN;
  int end = min(begin + SPAN, STEPS);
  int found = -1;
  if (k < CHANNELS) {
    for (int t = end - 1; t >= begin && found < 0; --t) {
      if (valid[(size_t)t * CHANNELS + k]) found = t;
    }
  }
  lastValid[threadIdx.y][threadIdx.x] = found;
  __syncthreads();
  if (k >= CHANNELS) return;
  int source = -1;
  for (int j = 0; j < threadIdx.y; ++j) source = max(source, lastValid[j][threadIdx.x]);
  float last = source >= 0 ? x[(size_t)source * CHANNELS + k] : initial[k];
  for (int t = begin; t < end; ++t) {
    size_t i = (size_t)t * CHANNELS + k;
    if (valid[i]) last = x[i];
    filled[i] = last;
  }
}

int main() {
  float* host_x = new float[STEPS * CHANNELS];
  unsigned char* host_valid = new unsigned char[STEPS * CHANNELS];
  float* host_initial = new float[CHANNELS];
  float* host_filled = new float[STEPS * CHANNELS];
  readFile("data/x.bin", host_x, STEPS * CHANNELS * sizeof(float));
  readFile("data/valid.bin", host_valid, STEPS * CHANNELS * sizeof(unsigned char));
  readFile("data/initial.bin", host_initial, CHANNELS * sizeof(float));

  float *d_x, *d_initial, *d_filled;
  unsigned char* d_valid = nullptr;
  cudaMalloc(&d_x, STEPS * CHANNELS * sizeof(float));
  cudaMalloc(&d_valid, STEPS * CHANNELS * sizeof(unsigned char));
  cudaMalloc(&d_initial, CHANNELS * sizeof(float));
  cudaMalloc(&d_filled, STEPS * CHANNELS * sizeof(float));
  cudaMemcpy(d_x, host_x, STEPS * CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_valid, host_valid, STEPS * CHANNELS * sizeof(unsigned char), cudaMemcpyHostToDevice);
  cudaMemcpy(d_initial, host_initial, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(TX, TY);
  dim3 grid(DIV_UP(CHANNELS, TX));
  forward_fill_stretches<<<grid, block>>>(d_x, d_valid, d_initial, d_filled);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(err));
    return 1;
  }

  cudaMemcpy(host_filled, d_filled, STEPS * CHANNELS * sizeof(float), cudaMemcpyDeviceToHost);
  writeFile("data/filled.bin", host_filled, STEPS * CHANNELS * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_valid);
  cudaFree(d_initial);
  cudaFree(d_filled);
  delete[] host_x;
  delete[] host_valid;
  delete[] host_initial;
  delete[] host_filled;
  return 0;
}
