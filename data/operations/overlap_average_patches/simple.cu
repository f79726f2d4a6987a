#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define PLANES 2
#define PATCHES_Y 12
#define PATCHES_X 14
#define PATCH 6
#define STRIDE 3
#define HEIGHT ((PATCHES_Y - 1) * STRIDE + PATCH)
#define WIDTH ((PATCHES_X - 1) * STRIDE + PATCH)

#define CUDA_CHECK(expr)                                                                 \
  do {                                                                                 \
    cudaError_t code = (expr);                                                       \
    if (code != cudaSuccess) {                                                       \
      printf("CUDA failure at line %d: %s\n", __LINE__, cudaGetErrorString(code)); \
      exit(EXIT_FAILURE);                                                          \
    }                                                                                \
  } while (0)

__global__ void add_patches(const float* patches, float* image, int* counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= PLANES * PATCHES_Y * PATCHES_X * PATCH * PATCH) return;
  int dx = i % PATCH;
  int dy = i / PATCH % PATCH;
  int px = i / (PATCH * PATCH) % PATCHES_X;
  int py = i / (PATCH * PATCH * PATCHES_X) % PATCHES_Y;
  int plane = i / (PATCH * PATCH * PATCHES_X * PATCHES_Y);
  int pixel = (plane * HEIGHT + py * STRIDE + dy) * WIDTH + px * STRIDE + dx;
  atomicAdd(&image[pixel], patches[i]);
  atomicAdd(&counts[pixel], 1);
}

__global__ void divide(float* image, const int* counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < PLANES * HEIGHT * WIDTH) image[i] /= counts[i];
}

int main() {
  size_t patches_total = (size_t)PLANES * PATCHES_Y * PATCHES_X * PATCH * PATCH;
  size_t image_total = (size_t)PLANES * (3 * PATCHES_Y - 3 + PATCH) * (3 * PATCHES_X - 3 + PATCH);
  size_t counts_total = PLANES * HEIGHT * WIDTH;
  float* h_patches = (float*)malloc(patches_total * sizeof(float));
  float* h_image = (float*)malloc(image_total * sizeof(float));

  FILE* fp = fopen("data/patches.bin", "rb");
  if (fp == NULL || fread(h_patches, 1, patches_total * sizeof(float), fp) != patches_total * sizeof(float)) {
    fprintf(stderr, "failed to read data/patches.bin\n");
    return 1;
  }
  fclose(fp);

  float* d_patches;
  float* d_image;
  int* d_counts;
  CUDA_CHECK(cudaMalloc(&d_patches, patches_total * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_image, image_total * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_counts, counts_total * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(d_patches, h_patches, patches_total * sizeof(float), cudaMemcpyHostToDevice));

  cudaMemset(d_image, 0, image_total * sizeof(float));
  cudaMemset(d_counts, 0, counts_total * sizeof(int));
  int values = PLANES * PATCHES_Y * PATCHES_X * PATCH * PATCH;
  add_patches<<<(values + 255) / 256, 256>>>(d_patches, d_image, d_counts);
  divide<<<(PLANES * HEIGHT * WIDTH + 255) / 256, 256>>>(d_image, d_counts);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(h_image, d_image, image_total * sizeof(float), cudaMemcpyDeviceToHost));

  FILE* dst_file = fopen("data/image.bin", "wb");
  if (!dst_file || fwrite(h_image, sizeof(float), image_total, dst_file) != image_total) {
    fprintf(stderr, "cannot write data/image.bin\n");
    return 1;
  }
  fclose(dst_file);

  cudaFree(d_patches);
  cudaFree(d_image);
  cudaFree(d_counts);
  free(h_patches);
  free(h_image);
  return 0;
}
