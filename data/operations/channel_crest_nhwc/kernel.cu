#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, void* data, size_t bytes) {
  FILE* f = fopen(path.c_str(), "rb");
  if (f == nullptr || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

void save_array(const std::string& path, const void* data, size_t bytes) {
  FILE* f = fopen(path.c_str(), "wb");
  if (f == nullptr || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

const int BATCH = 3;
const int HEIGHT = 20;
const int WIDTH = 24;
const int CHANNELS = 16;
const int PIXELS = HEIGHT * WIDTH;
const int TX = 32;
const int TY = 16;

// 32 channels by 16 pixel lanes per block.
__global__ void rms_crest_lanes(const float* __restrict__ x, float* __restrict__ rms, float* __restrict__ crest) {
  __shared__ float sums[TY][TX];
  __shared__ float tops[TY][TX];
  int tx = threadIdx.x, ty = threadIdx.y;
  int k = blockIdx.x * TX + tx;
  const float* image = x + (size_t)blockIdx.y * PIXELS * CHANNELS;
  float sum = 0.0f, top = 0.0f;
  if (k < CHANNELS) {
    for (int p = ty; p < PIXELS; p += TY) {
      float v = image[p * CHANNELS + k];
      sum = fmaf(v, v, sum);
      top = fmaxf(top, fabsf(v));
    }
  }
  sums[ty][tx] = sum;
  tops[ty][tx] = top;
  __syncthreads();
  for (int h = TY / 2; h > 0; h >>= 1) {
    if (ty < h) {
      sums[ty][tx] += sums[ty + h][tx];
      tops[ty][tx] = fmaxf(tops[ty][tx], tops[ty + h][tx]);
    }
    __syncthreads();
  }
  if (ty == 0 && k < CHANNELS) {
    float root = sqrtf(sums[0][tx] / PIXELS);
    rms[blockIdx.y * CHANNELS + k] = root;
    crest[blockIdx.y * CHANNELS + k] = root > 0.0f ? tops[0][tx] / root : 0.0f;
  }
}

int main() {
  const size_t x_count = (size_t)BATCH * HEIGHT * WIDTH * CHANNELS;
  const size_t rms_count = (size_t)BATCH * CHANNELS;
  float* x = new float[x_count];
  load_array("data/x.bin", x, x_count * sizeof(float));
  float* rms = new float[rms_count];
  float* crest = new float[rms_count];

  float *d_x, *d_rms, *d_crest;
  cudaMalloc(&d_x, x_count * sizeof(float));
  cudaMalloc(&d_rms, rms_count * sizeof(float));
  cudaMalloc(&d_crest, rms_count * sizeof(float));
  cudaMemcpy(d_x, x, x_count * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(TX, TY);
  dim3 grid(ceil_div(CHANNELS, TX), BATCH);
  rms_crest_lanes<<<grid, block>>>(d_x, d_rms, d_crest);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(err));
    return 1;
  }

  cudaMemcpy(rms, d_rms, rms_count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(crest, d_crest, rms_count * sizeof(float), cudaMemcpyDeviceToHost);
  save_array("data/rms.bin", rms, rms_count * sizeof(float));
  save_array("data/crest.bin", crest, rms_count * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_rms);
  cudaFree(d_crest);
  delete[] x;
  delete[] rms;
  delete[] crest;
  return 0;
}
