#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHANNELS 30
#define CAPACITY 400
#define CHUNK_LEN 300

#define CK(x)                                                                                  \
  do {                                                                                       \
    cudaError_t code = (x);                                                                \
    if (code != cudaSuccess) {                                                             \
      fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(code), __LINE__); \
      exit(EXIT_FAILURE);                                                                \
    }                                                                                      \
  } while (0)

// Old contents are copied for the slots that no new sample reaches, then the surviving samples are written.
__global__ void append_two_parts(const float* __restrict__ buffer, const int* __restrict__ head,
                                 const float* __restrict__ chunk, const int* __restrict__ fresh,
                                 float* __restrict__ updated, int* __restrict__ new_head) {
  const int c = blockIdx.x;
  const int n = fresh[c];
  const int next = (head[c] + n) % CAPACITY;
  const int written = min(n, CAPACITY);
  const float* old = buffer + (size_t)c * CAPACITY;
  float* dst = updated + (size_t)c * CAPACITY;
  for (int k = threadIdx.x; k < CAPACITY - written; k += blockDim.x) {
    int s = next + k;
    if (s >= CAPACITY) s -= CAPACITY;
    dst[s] = old[s];
  }
  const float* src = chunk + (size_t)c * CHUNK_LEN + n - written;
  for (int k = threadIdx.x; k < written; k += blockDim.x) {
    int s = next - written + k;
    if (s < 0) s += CAPACITY;
    dst[s] = src[k];
  }
  if (threadIdx.x == 0) new_head[c] = next;
}

int main() {
  const size_t bufferSize = (size_t)CHANNELS * CAPACITY;
  const size_t chunkSize = (size_t)CHANNELS * CHUNK_LEN;
  float* h_buffer = (float*)malloc(bufferSize * sizeof(float));
  int* h_head = (int*)malloc(CHANNELS * sizeof(int));
  float* h_chunk = (float*)malloc(chunkSize * sizeof(float));
  int* h_fresh = (int*)malloc(CHANNELS * sizeof(int));
  float* h_updated = (float*)malloc(bufferSize * sizeof(float));
  int* h_new_head = (int*)malloc(CHANNELS * sizeof(int));

  FILE* fp = fopen("data/buffer.bin", "rb");
  if (fp == NULL || fread(h_buffer, 1, bufferSize * sizeof(float), fp) != bufferSize * sizeof(float)) {
    fprintf(stderr, "failed to read data/buffer.bin\n");
    return 1;
  }
  fclose(fp);
  fp = fopen("data/head.bin", "rb");
  if (fp == NULL || fread(h_head, 1, CHANNELS * sizeof(int), fp) != CHANNELS * sizeof(int)) {
    fprintf(stderr, "failed to read data/head.bin\n");
    return 1;
  }
  fclose(fp);
  fp = fopen("data/chunk.bin", "rb");
  if (fp == NULL || fread(h_chunk, 1, chunkSize * sizeof(float), fp) != chunkSize * sizeof(float)) {
    fprintf(stderr, "failed to read data/chunk.bin\n");
    return 1;
  }
  fclose(fp);
  fp = fopen("data/fresh.bin", "rb");
  if (fp == NULL || fread(h_fresh, 1, CHANNELS * sizeof(int), fp) != CHANNELS * sizeof(int)) {
    fprintf(stderr, "failed to read data/fresh.bin\n");
    return 1;
  }
  fclose(fp);

  float* d_buffer;
  CK(cudaMalloc(&d_buffer, bufferSize * sizeof(float)));
  CK(cudaMemcpy(d_buffer, h_buffer, bufferSize * sizeof(float), cudaMemcpyHostToDevice));
  int* d_head;
  CK(cudaMalloc(&d_head, CHANNELS * sizeof(int)));
  CK(cudaMemcpy(d_head, h_head, CHANNELS * sizeof(int), cudaMemcpyHostToDevice));
  float* d_chunk;
  CK(cudaMalloc(&d_chunk, chunkSize * sizeof(float)));
  CK(cudaMemcpy(d_chunk, h_chunk, chunkSize * sizeof(float), cudaMemcpyHostToDevice));
  int* d_fresh;
  CK(cudaMalloc(&d_fresh, CHANNELS * sizeof(int)));
  CK(cudaMemcpy(d_fresh, h_fresh, CHANNELS * sizeof(int), cudaMemcpyHostToDevice));
  float* d_updated;
  CK(cudaMalloc(&d_updated, bufferSize * sizeof(float)));
  int* d_new_head;
  CK(cudaMalloc(&d_new_head, CHANNELS * sizeof(int)));

  append_two_parts<<<CHANNELS, 128>>>(d_buffer, d_head, d_chunk, d_fresh, d_updated, d_new_head);
  CK(cudaGetLastError());
  CK(cudaMemcpy(h_updated, d_updated, bufferSize * sizeof(float), cudaMemcpyDeviceToHost));
  CK(cudaMemcpy(h_new_head, d_new_head, CHANNELS * sizeof(int), cudaMemcpyDeviceToHost));

  FILE* out = fopen("data/updated.bin", "wb");
  if (!out || fwrite(h_updated, sizeof(float), bufferSize, out) != bufferSize) {
    fprintf(stderr, "cannot write data/updated.bin\n");
    return 1;
  }
  fclose(out);
  out = fopen("data/new_head.bin", "wb");
  if (!out || fwrite(h_new_head, sizeof(int), CHANNELS, out) != (size_t)CHANNELS) {
    fprintf(stderr, "cannot write data/new_head.bin\n");
    return 1;
  }
  fclose(out);

  cudaFree(d_buffer);
  cudaFree(d_head);
  cudaFree(d_chunk);
  cudaFree(d_fresh);
  cudaFree(d_updated);
  cudaFree(d_new_head);
  free(h_buffer);
  free(h_head);
  free(h_chunk);
  free(h_fresh);
  free(h_updated);
  free(h_new_head);
  return 0;
}
