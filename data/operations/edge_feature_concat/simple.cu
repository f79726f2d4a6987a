#include <cstdio>
#include <cuda_runtime.h>

#define NODE_COUNT 200
#define DIM 20
#define EDGES 800

__global__ void edge_features(const float* nodes, const int* source, const int* target, float* features) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= EDGES * DIM) return;
  int e = i / DIM;
  int d = i % DIM;
  float center = 0.0f, difference = 0.0f;
  if (source[e] >= 0) {
    center = nodes[target[e] * DIM + d];
    difference = nodes[source[e] * DIM + d] - center;
  }
  features[e * 2 * DIM + d] = center;
  features[e * 2 * DIM + DIM + d] = difference;
}

int main() {
  const size_t nodes_size = (size_t)NODE_COUNT * DIM;
  const size_t features_size = (size_t)EDGES * (2 * DIM);
  float* nodes;
  int* source;
  int* target;
  float* features;
  cudaMallocManaged(&nodes, nodes_size * sizeof(float));
  cudaMallocManaged(&source, EDGES * sizeof(int));
  cudaMallocManaged(&target, EDGES * sizeof(int));
  cudaMallocManaged(&features, features_size * sizeof(float));

  FILE* fp = fopen("data/nodes.bin", "rb");
  if (!fp || fread(nodes, sizeof(float), nodes_size, fp) != nodes_size) {
    perror("data/nodes.bin");
    return 1;
  }
  fclose(fp);
  fp = fopen("data/source.bin", "rb");
  if (!fp || fread(source, sizeof(int), EDGES, fp) != EDGES) {
    puts("data/source.bin");
    return 1;
  }
  fclose(fp);
  fp = fopen("data/target.bin", "rb");
  if (!fp || fread(target, sizeof(int), EDGES, fp) != EDGES) {
    puts("data/target.bin");
    return 1;
  }
  fclose(fp);

  edge_features<<<(EDGES * DIM + 255) / 256, 256>>>(nodes, source, target, features);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  fp = fopen("data/features.bin", "wb");
  fwrite(features, sizeof(float), features_size, fp);
  fclose(fp);
  cudaFree(nodes);
  cudaFree(source);
  cudaFree(target);
  cudaFree(features);
  return 0;
}
