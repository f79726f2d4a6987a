#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kNodes = 1000;
constexpr int kEdges = 8003;
constexpr int kQuads = kEdges / 4;

inline void verify(cudaError_t e, const char* msg) {
  if (e != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e));
    exit(EXIT_FAILURE);
  }
}

bool read_all(const char* path, std::vector<int>& v) {
  FILE* file = fopen(path, "rb");
  if (!file) return false;
  size_t got = fread(v.data(), sizeof(int), v.size(), file);
  fclose(file);
  return got == v.size();
}

bool write_all(const char* path, const std::vector<int>& v) {
  FILE* file = fopen(path, "wb");
  if (!file) return false;
  size_t put = fwrite(v.data(), sizeof(int), v.size(), file);
  fclose(file);
  return put == v.size();
}

__device__ void add_edge(int s, int t, int* degree, int* loops) {
  if (s == t) {
    atomicAdd(loops + s, 1);
    return;
  }
  atomicAdd(degree + 2 * t, 1);
  atomicAdd(degree + 2 * s + 1, 1);
}

// Four edges a thread; the thread after the last full group takes what is left.
__global__ void degrees_by_four(const int* __restrict__ source, const int* __restrict__ target,
    int* degree, int* loops) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < kQuads) {
    int4 s = reinterpret_cast<const int4*>(source)[q];
    int4 t = reinterpret_cast<const int4*>(target)[q];
    add_edge(s.x, t.x, degree, loops);
    add_edge(s.y, t.y, degree, loops);
    add_edge(s.z, t.z, degree, loops);
    add_edge(s.w, t.w, degree, loops);
  } else if (q == kQuads) {
    for (int e = 4 * kQuads; e < kEdges; ++e) add_edge(source[e], target[e], degree, loops);
  }
}

int main() {
  std::vector<int> h_source(kEdges);
  std::vector<int> h_target(kEdges);
  std::vector<int> h_degree(kNodes * 2);
  std::vector<int> h_loops(kNodes);
  if (!read_all("data/source.bin", h_source) || !read_all("data/target.bin", h_target)) {
    fprintf(stderr, "cannot read inputs\n");
    return 1;
  }

  int *d_source, *d_target, *d_degree, *d_loops;
  verify(cudaMalloc(&d_source, kEdges * sizeof(int)), "cudaMalloc source");
  verify(cudaMemcpy(d_source, h_source.data(), kEdges * sizeof(int), cudaMemcpyHostToDevice), "copy source");
  verify(cudaMalloc(&d_target, kEdges * sizeof(int)), "cudaMalloc target");
  verify(cudaMemcpy(d_target, h_target.data(), kEdges * sizeof(int), cudaMemcpyHostToDevice), "copy target");
  verify(cudaMalloc(&d_degree, kNodes * 2 * sizeof(int)), "cudaMalloc degree");
  verify(cudaMalloc(&d_loops, kNodes * sizeof(int)), "cudaMalloc loops");

  verify(cudaMemset(d_degree, 0, 2 * kNodes * sizeof(int)), "device copy");
  verify(cudaMemset(d_loops, 0, kNodes * sizeof(int)), "device copy");
  int groups = kQuads + 1;
  degrees_by_four<<<(groups + 127) / 128, 128>>>(d_source, d_target, d_degree, d_loops);
  verify(cudaGetLastError(), "kernel launch");
  verify(cudaMemcpy(h_degree.data(), d_degree, kNodes * 2 * sizeof(int), cudaMemcpyDeviceToHost),
      "copy degree back");
  verify(cudaMemcpy(h_loops.data(), d_loops, kNodes * sizeof(int), cudaMemcpyDeviceToHost),
      "copy loops back");

  cudaFree(d_source);
  cudaFree(d_target);
  cudaFree(d_degree);
  cudaFree(d_loops);

  if (!write_all("data/degree.bin", h_degree)) {
    fprintf(stderr, "cannot write data/degree.bin\n");
    return 1;
  }
  if (!write_all("data/loops.bin", h_loops)) return 1;
}
