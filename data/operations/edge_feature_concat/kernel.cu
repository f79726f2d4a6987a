#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_array(const char* filename, void* data, size_t bytes) {
  FILE* fp = fopen(filename, "rb");
  if (!fp || fread(data, 1, bytes, fp) != bytes) {
    fprintf(stderr, "cannot read %s\n", filename);
    exit(1);
  }
  fclose(fp);
}

static void save_array(const char* filename, const void* data, size_t bytes) {
  FILE* fp = fopen(filename, "wb");
  if (!fp || fwrite(data, 1, bytes, fp) != bytes) {
    fprintf(stderr, "cannot write %s\n", filename);
    exit(1);
  }
  fclose(fp);
}
//@given

static const int NODE_COUNT = 200;
static const int DIM = 20;
static const int EDGES = 800;
static const int EDGES_PER_BLOCK = 8;
static const int QUADS = DIM / 4;
inline int div_up(int a, int b) { return (a + b - 1) / b; }

// A warp for each edge; four columns at a time where the vectors are aligned.
__global__ void edge_features_warp(const float* __restrict__ nodes, const int* __restrict__ source,
                                   const int* __restrict__ target, float* __restrict__ features) {
  const int e = blockIdx.x * EDGES_PER_BLOCK + threadIdx.y;
  if (e >= EDGES) return;
  const int s = source[e];
  const float keep = s < 0 ? 0.0f : 1.0f;
  const float* a = nodes + (size_t)target[e] * DIM;
  const float* b = nodes + (size_t)max(s, 0) * DIM;
  float* out = features + (size_t)e * 2 * DIM;
  if (DIM % 4 == 0) {
    for (int q = threadIdx.x; q < QUADS; q += 32) {
      const float4 u = ((const float4*)a)[q], v = ((const float4*)b)[q];
      ((float4*)out)[q] = make_float4(keep * u.x, keep * u.y, keep * u.z, keep * u.w);
      ((float4*)(out + DIM))[q] =
        make_float4(keep * (v.x - u.x), keep * (v.y - u.y), keep * (v.z - u.z), keep * (v.w - u.w));
    }
  } else {
    for (int d = threadIdx.x; d < DIM; d += 32) {
      out[d] = keep * a[d];
      out[DIM + d] = keep * (b[d] - a[d]);
    }
  }
}

int main() {
  size_t nodes_total = (size_t)NODE_COUNT * DIM;
  size_t features_total = (size_t)EDGES * (2 * DIM);
  float* nodes = (float*)malloc(nodes_total * sizeof(float));
  int* source = (int*)malloc(EDGES * sizeof(int));
  int* target = (int*)malloc(EDGES * sizeof(int));
  float* features = (float*)malloc(features_total * sizeof(float));
  load_array("data/nodes.bin", nodes, nodes_total * sizeof(float));
  load_array("data/source.bin", source, EDGES * sizeof(int));
  load_array("data/target.bin", target, EDGES * sizeof(int));

  float *d_nodes, *d_features;
  int *d_source, *d_target;
  cudaMalloc(&d_nodes, nodes_total * sizeof(float));
  cudaMalloc(&d_source, EDGES * sizeof(int));
  cudaMalloc(&d_target, EDGES * sizeof(int));
  cudaMalloc(&d_features, features_total * sizeof(float));
  cudaMemcpy(d_nodes, nodes, nodes_total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_source, source, EDGES * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_target, target, EDGES * sizeof(int), cudaMemcpyHostToDevice);

  dim3 block(32, EDGES_PER_BLOCK);
  edge_features_warp<<<div_up(EDGES, EDGES_PER_BLOCK), block>>>(d_nodes, d_source, d_target, d_features);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    return 1;
  }
  cudaMemcpy(features, d_features, features_total * sizeof(float), cudaMemcpyDeviceToHost);

  save_array("data/features.bin", features, features_total * sizeof(float));
  cudaFree(d_nodes);
  cudaFree(d_source);
  cudaFree(d_target);
  cudaFree(d_features);
  free(nodes);
  free(source);
  free(target);
  free(features);
  return 0;
}
