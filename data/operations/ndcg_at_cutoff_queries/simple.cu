#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CK(call)                                                                 \
  do {                                                                         \
    cudaError_t rc_ = (call);                                                \
    if (rc_ != cudaSuccess) {                                                \
      fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(rc_)); \
      exit(1);                                                             \
    }                                                                        \
  } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "%s: read failed\n", path);
    exit(1);
  }
  fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(src, 1, bytes, f) != bytes) {
    perror(path);
    exit(1);
  }
  fclose(f);
}

const int QUERIES = 80;
const int DOCS = 60;

__global__ void ndcg_queries(const float* scores, const int* grades, const int* cutoff, float* ndcg) {
  __shared__ float real[128], ideal[128];
  int q = blockIdx.x, t = threadIdx.x;
  const float* s = scores + q * DOCS;
  const int* g = grades + q * DOCS;
  float a = 0.0f, b = 0.0f;
  for (int i = t; i < DOCS; i += 128) {
    int pos = 0, best = 0;
    for (int j = 0; j < DOCS; j++) {
      if (s[j] > s[i] || (s[j] == s[i] && j < i)) pos++;
      if (g[j] > g[i] || (g[j] == g[i] && j < i)) best++;
    }
    float gain = (float)((1 << g[i]) - 1);
    if (pos < cutoff[q]) a += gain / log2f(pos + 2.0f);
    if (best < cutoff[q]) b += gain / log2f(best + 2.0f);
  }
  real[t] = a;
  ideal[t] = b;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      real[t] += real[t + d];
      ideal[t] += ideal[t + d];
    }
    __syncthreads();
  }
  if (t == 0) ndcg[q] = ideal[0] > 0.0f ? real[0] / ideal[0] : 0.0f;
}

int main() {
  float* h_scores = (float*)malloc(QUERIES * DOCS * sizeof(float));
  int* h_grades = (int*)malloc(QUERIES * DOCS * sizeof(int));
  int* h_cutoff = (int*)malloc(QUERIES * sizeof(int));
  float* h_ndcg = (float*)malloc(QUERIES * sizeof(float));
  read_file("data/scores.bin", h_scores, QUERIES * DOCS * sizeof(float));
  read_file("data/grades.bin", h_grades, QUERIES * DOCS * sizeof(int));
  read_file("data/cutoff.bin", h_cutoff, QUERIES * sizeof(int));

  float* d_scores;
  int* d_grades;
  int* d_cutoff;
  float* d_ndcg;
  CK(cudaMalloc(&d_scores, QUERIES * DOCS * sizeof(float)));
  CK(cudaMalloc(&d_grades, QUERIES * DOCS * sizeof(int)));
  CK(cudaMalloc(&d_cutoff, QUERIES * sizeof(int)));
  CK(cudaMalloc(&d_ndcg, QUERIES * sizeof(float)));
  CK(cudaMemcpy(d_scores, h_scores, QUERIES * DOCS * sizeof(float), cudaMemcpyHostToDevice));
  CK(cudaMemcpy(d_grades, h_grades, QUERIES * DOCS * sizeof(int), cudaMemcpyHostToDevice));
  CK(cudaMemcpy(d_cutoff, h_cutoff, QUERIES * sizeof(int), cudaMemcpyHostToDevice));

  ndcg_queries<<<QUERIES, 128>>>(d_scores, d_grades, d_cutoff, d_ndcg);
  CK(cudaGetLastError());
  CK(cudaDeviceSynchronize());
  CK(cudaMemcpy(h_ndcg, d_ndcg, QUERIES * sizeof(float), cudaMemcpyDeviceToHost));

  write_file("data/ndcg.bin", h_ndcg, QUERIES * sizeof(float));
  cudaFree(d_scores);
  cudaFree(d_grades);
  cudaFree(d_cutoff);
  cudaFree(d_ndcg);
  free(h_scores);
  free(h_grades);
  free(h_cutoff);
  free(h_ndcg);
  return 0;
}
