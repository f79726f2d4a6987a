#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 120;
static const int DIM = 64;

static inline void must(cudaError_t code, const char* msg) {
  if (code != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(code));
    std::exit(1);
  }
}

bool loadBin(const char* path, void* ptr, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(ptr, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

bool storeBin(const char* path, const void* ptr, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(ptr, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

__global__ void adamax(const float* weight, const float* grad, const float* moment, const float* norm,
        const int* step,
             float* weight_out, float* moment_out, float* norm_out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ROWS * DIM) return;
  int t = step[i / DIM];
  float w = weight[i], m = moment[i], u = norm[i];
  if (t > 0) {
    m = 0.9f * m + 0.1f * grad[i];
    u = fmaxf(0.999f * u, fabsf(grad[i]) + 1e-7f);
    w -= 0.002f / (1.0f - powf(0.9f, (float)t)) * m / u;
  }
  weight_out[i] = w;
  moment_out[i] = m;
  norm_out[i] = u;
}

int main() {
  std::vector<float> hWeight(ROWS * DIM);
  std::vector<float> hGrad(ROWS * DIM);
  std::vector<float> hMoment(ROWS * DIM);
  std::vector<float> hNorm(ROWS * DIM);
  std::vector<float> h_weight_out(ROWS * DIM);
  std::vector<float> h_moment_out(ROWS * DIM);
  std::vector<float> h_norm_out(ROWS * DIM);
  std::vector<int> hStep(ROWS);
  if (!loadBin("data/weight.bin", hWeight.data(), ROWS * DIM * sizeof(float))) {
    fprintf(stderr, "cannot read data/weight.bin\n");
    return 1;
  }
  if (!loadBin("data/grad.bin", hGrad.data(), ROWS * DIM * sizeof(float))) {
    fprintf(stderr, "cannot read data/grad.bin\n");
    return 1;
  }
  if (!loadBin("data/moment.bin", hMoment.data(), ROWS * DIM * sizeof(float))) {
    fprintf(stderr, "cannot read data/moment.bin\n");
    return 1;
  }
  if (!loadBin("data/norm.bin", hNorm.data(), ROWS * DIM * sizeof(float))) {
    fprintf(stderr, "cannot read data/norm.bin\n");
    return 1;
  }
  if (!loadBin("data/step.bin", hStep.data(), ROWS * sizeof(int))) {
    fprintf(stderr, "cannot read data/step.bin\n");
    return 1;
  }

  float *d_weight, *d_grad, *d_moment, *d_norm, *d_weight_out, *d_moment_out, *d_norm_out;
  int* d_step;
  must(cudaMalloc(&d_weight, ROWS * DIM * sizeof(float)), "cudaMalloc weight");
  must(cudaMalloc(&d_grad, ROWS * DIM * sizeof(float)), "cudaMalloc grad");
  must(cudaMalloc(&d_moment, ROWS * DIM * sizeof(float)), "cudaMalloc moment");
  must(cudaMalloc(&d_norm, ROWS * DIM * sizeof(float)), "cudaMalloc norm");
  must(cudaMalloc(&d_step, ROWS * sizeof(int)), "cudaMalloc step");
  must(cudaMalloc(&d_weight_out, ROWS * DIM * sizeof(float)), "cudaMalloc weight_out");
  must(cudaMalloc(&d_moment_out, ROWS * DIM * sizeof(float)), "cudaMalloc moment_out");
  must(cudaMalloc(&d_norm_out, ROWS * DIM * sizeof(float)), "cudaMalloc norm_out");
  must(cudaMemcpy(d_weight, hWeight.data(), ROWS * DIM * sizeof(float), cudaMemcpyHostToDevice), "memcpy weight");
  must(cudaMemcpy(d_grad, hGrad.data(), ROWS * DIM * sizeof(float), cudaMemcpyHostToDevice), "memcpy grad");
  must(cudaMemcpy(d_moment, hMoment.data(), ROWS * DIM * sizeof(float), cudaMemcpyHostToDevice), "memcpy moment");
  must(cudaMemcpy(d_norm, hNorm.data(), ROWS * DIM * sizeof(float), cudaMemcpyHostToDevice), "memcpy norm");
  must(cudaMemcpy(d_step, hStep.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice), "memcpy step");

  adamax<<<(ROWS * DIM + 255) / 256, 256>>>(d_weight, d_grad, d_moment, d_norm, d_step, d_weight_out,
          d_moment_out, d_norm_out);
  must(cudaGetLastError(), "launch");
  must(cudaDeviceSynchronize(), "kernel execution");

  must(cudaMemcpy(h_weight_out.data(), d_weight_out, ROWS * DIM * sizeof(float), cudaMemcpyDeviceToHost),
          "memcpy weight_out");
  must(cudaMemcpy(h_moment_out.data(), d_moment_out, ROWS * DIM * sizeof(float), cudaMemcpyDeviceToHost),
          "memcpy moment_out");
  must(cudaMemcpy(h_norm_out.data(), d_norm_out, ROWS * DIM * sizeof(float), cudaMemcpyDeviceToHost),
          "memcpy norm_out");
  if (!storeBin("data/weight_out.bin", h_weight_out.data(), ROWS * DIM * sizeof(float))) {
    fprintf(stderr, "cannot write data/weight_out.bin\n");
    return 1;
  }
  if (!storeBin("data/moment_out.bin", h_moment_out.data(), ROWS * DIM * sizeof(float))) {
    fprintf(stderr, "cannot write data/moment_out.bin\n");
    return 1;
  }
  if (!storeBin("data/norm_out.bin", h_norm_out.data(), ROWS * DIM * sizeof(float))) {
    fprintf(stderr, "cannot write data/norm_out.bin\n");
    return 1;
  }
  cudaFree(d_weight);
  cudaFree(d_grad);
  cudaFree(d_moment);
  cudaFree(d_norm);
  cudaFree(d_step);
  cudaFree(d_weight_out);
  cudaFree(d_moment_out);
  cudaFree(d_norm_out);
  return 0;
}
