#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define NODES 1000
#define EDGES 8003

#define CUDA_OK(x) \
  if ((x) != cudaSuccess) { \
    fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
    exit(1); \
  }

static void read_file(const char* path, void* dst, size_t bytes) {
  FILE* fp = fopen(path, "rb");
  if (!fp || fread(dst, 1, bytes, fp) != bytes) {
    fprintf(stderr, "error reading %s\n", path);
    exit(1);
  }
  fclose(fp);
}

static void write_file(const char* path, const void* src, size_t bytes) {
  FILE* fp = fopen(path, "wb");
  if (!fp || fwrite(src, 1, bytes, fp) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(fp);
}

__global__ void countDegrees(const int* source, const int* target, int* degree, int* loops) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= EDGES) return;
  int s = source[e];
  int t = target[e];
  if (s == t) {
    atomicAdd(&loops[s], 1);
  } else {
    atomicAdd(&degree[2 * t], 1);
    atomicAdd(&degree[2 * s + 1], 1);
  }
}

int main() {
  int* host_source = (int*)malloc(EDGES * sizeof(int));
  int* host_target = (int*)malloc(EDGES * sizeof(int));
  int* host_degree = (int*)malloc(NODES * 2 * sizeof(int));
  int* host_loops = (int*)malloc(NODES * sizeof(int));
  read_file("data/source.bin", host_source, EDGES * sizeof(int));
  read_file("data/target.bin", host_target, EDGES * sizeof(int));

  int* source_d;
  int* target_d;
  int* degree_d;
  int* loops_d;
  CUDA_OK(cudaMalloc(&source_d, EDGES * sizeof(int)));
  CUDA_OK(cudaMalloc(&target_d, EDGES * sizeof(int)));
  CUDA_OK(cudaMalloc(&degree_d, NODES * 2 * sizeof(int)));
  CUDA_OK(cudaMalloc(&loops_d, NODES * sizeof(int)));
  CUDA_OK(cudaMemcpy(source_d, host_source, EDGES * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(target_d, host_target, EDGES * sizeof(int), cudaMemcpyHostToDevice));

  CUDA_OK(cudaMemset(degree_d, 0, 2 * NODES * sizeof(int)));
  CUDA_OK(cudaMemset(loops_d, 0, NODES * sizeof(int)));
  countDegrees<<<(EDGES + 255) / 256, 256>>>(source_d, target_d, degree_d, loops_d);
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemcpy(host_degree, degree_d, NODES * 2 * sizeof(int), cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(host_loops, loops_d, NODES * sizeof(int), cudaMemcpyDeviceToHost));

  write_file("data/degree.bin", host_degree, NODES * 2 * sizeof(int));
  write_file("data/loops.bin", host_loops, NODES * sizeof(int));

  cudaFree(source_d);
  cudaFree(target_d);
  cudaFree(degree_d);
  cudaFree(loops_d);
  free(host_source);
  free(host_target);
  free(host_degree);
  free(host_loops);
  return 0;
}
