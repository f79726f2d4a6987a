#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 4000;

static void checkCuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
  }
}

bool read_all(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  size_t got = fread(dst, 1, bytes, f);
  fclose(f);
  return got == bytes;
}

bool write_all(const char* path, const void* src, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  size_t put = fwrite(src, 1, bytes, f);
  fclose(f);
  return put == bytes;
}

__global__ void rotate(const float* vectors, const float* axes, const float* angles, float* rotated) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kN) return;
  float vx = vectors[3 * i], vy = vectors[3 * i + 1], vz = vectors[3 * i + 2];
  float ux = axes[3 * i], uy = axes[3 * i + 1], uz = axes[3 * i + 2];
  float len = sqrtf(ux * ux + uy * uy + uz * uz);
  if (len == 0.0f) {
    rotated[3 * i] = vx;
    rotated[3 * i + 1] = vy;
    rotated[3 * i + 2] = vz;
    return;
  }
  ux /= len;
  uy /= len;
  uz /= len;
  float c = cosf(angles[i]);
  float s = sinf(angles[i]);
  float k = (ux * vx + uy * vy + uz * vz) * (1.0f - c);
  rotated[3 * i] = vx * c + (uy * vz - uz * vy) * s + ux * k;
  rotated[3 * i + 1] = vy * c + (uz * vx - ux * vz) * s + uy * k;
  rotated[3 * i + 2] = vz * c + (ux * vy - uy * vx) * s + uz * k;
}

int main() {
  std::vector<float> vectors(kN * 3);
  std::vector<float> axes(kN * 3);
  std::vector<float> angles(kN);
  std::vector<float> rotated(kN * 3);
  if (!read_all("data/vectors.bin", vectors.data(), kN * 3 * sizeof(float))) {
    fprintf(stderr, "cannot read data/vectors.bin\n");
    return 1;
  }
  if (!read_all("data/axes.bin", axes.data(), kN * 3 * sizeof(float))) {
    fprintf(stderr, "cannot read data/axes.bin\n");
    return 1;
  }
  if (!read_all("data/angles.bin", angles.data(), kN * sizeof(float))) {
    fprintf(stderr, "cannot read data/angles.bin\n");
    return 1;
  }

  float *dVectors, *dAxes, *dAngles, *dRotated;
  checkCuda(cudaMalloc(&dVectors, kN * 3 * sizeof(float)), "allocate vectors");
  checkCuda(cudaMalloc(&dAxes, kN * 3 * sizeof(float)), "cudaMalloc");
  checkCuda(cudaMalloc(&dAngles, kN * sizeof(float)), "malloc angles");
  checkCuda(cudaMalloc(&dRotated, kN * 3 * sizeof(float)), "malloc rotated");
  checkCuda(cudaMemcpy(dVectors, vectors.data(), kN * 3 * sizeof(float), cudaMemcpyHostToDevice), "copy vectors");
  checkCuda(cudaMemcpy(dAxes, axes.data(), kN * 3 * sizeof(float), cudaMemcpyHostToDevice), "copy axes");
  checkCuda(cudaMemcpy(dAngles, angles.data(), kN * sizeof(float), cudaMemcpyHostToDevice), "copy angles");

  int threads = 256;
  int blocks = (kN + threads - 1) / threads;
  rotate<<<blocks, threads>>>(dVectors, dAxes, dAngles, dRotated);
  checkCuda(cudaGetLastError(), "kernel launch");

  checkCuda(cudaMemcpy(rotated.data(), dRotated, kN * 3 * sizeof(float), cudaMemcpyDeviceToHost), "copy rotated");
  if (!write_all("data/rotated.bin", rotated.data(), kN * 3 * sizeof(float))) return 1;

  cudaFree(dVectors);
  cudaFree(dAxes);
  cudaFree(dAngles);
  cudaFree(dRotated);
  return 0;
}
