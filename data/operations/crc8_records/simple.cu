#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_file(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

void write_file(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}
//@given

const int COUNT = 600;
const int WIDTH = 31;
const int BLOCK = 128;
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void crc8(const uint8_t* frames, const uint8_t* stored, uint8_t* crc, uint8_t* intact) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= COUNT) return;
  unsigned int reg = 0;
  for (int i = 0; i < WIDTH; ++i) {
    reg ^= frames[(size_t)r * WIDTH + i];
    for (int b = 0; b < 8; ++b) {
      reg <<= 1;
      if (reg & 0x100) reg ^= 0x107;
    }
  }
  crc[r] = (uint8_t)reg;
  intact[r] = reg == stored[r] ? 1 : 0;
}

int main() {
  const size_t count = COUNT * WIDTH;
  const size_t bytes_frames = count * sizeof(uint8_t);
  const size_t bytes_stored = COUNT * sizeof(uint8_t);
  const size_t bytes_crc = COUNT * sizeof(uint8_t);
  const size_t bytes_intact = COUNT * sizeof(uint8_t);
  uint8_t* h_frames = (uint8_t*)malloc(bytes_frames);
  uint8_t* h_stored = (uint8_t*)malloc(bytes_stored);
  uint8_t* h_crc = (uint8_t*)malloc(bytes_crc);
  uint8_t* h_intact = (uint8_t*)malloc(bytes_intact);
  read_file("data/frames.bin", h_frames, bytes_frames);
  read_file("data/stored.bin", h_stored, bytes_stored);

  uint8_t *d_frames, *d_stored, *d_crc, *d_intact;
  cudaMalloc(&d_frames, bytes_frames);
  cudaMalloc(&d_stored, bytes_stored);
  cudaMalloc(&d_crc, bytes_crc);
  cudaMalloc(&d_intact, bytes_intact);
  cudaMemcpy(d_frames, h_frames, bytes_frames, cudaMemcpyHostToDevice);
  cudaMemcpy(d_stored, h_stored, bytes_stored, cudaMemcpyHostToDevice);

  crc8<<<DIV_UP(COUNT, BLOCK), BLOCK>>>(d_frames, d_stored, d_crc, d_intact);

  cudaMemcpy(h_crc, d_crc, bytes_crc, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_intact, d_intact, bytes_intact, cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) {
    fprintf(stderr, "GPU error\n");
    return 1;
  }
  write_file("data/crc.bin", h_crc, bytes_crc);
  write_file("data/intact.bin", h_intact, bytes_intact);

  cudaFree(d_frames);
  cudaFree(d_stored);
  cudaFree(d_crc);
  cudaFree(d_intact);
  free(h_frames);
  free(h_stored);
  free(h_crc);
  free(h_intact);
  return 0;
}
