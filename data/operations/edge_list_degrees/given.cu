#define NODES 1000
#define EDGES 8003

__global__ void count_degrees(const int* source, const int* target, int* degree, int* loops, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
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
  const int n = NODES * 2;
  std::vector<int> h_source(EDGES);
  std::vector<int> h_target(EDGES);
  std::vector<int> h_degree(n);
  std::vector<int> h_loops(NODES);
  read_binary("data/source.bin", reinterpret_cast<float*>(h_source.data()), EDGES);
  read_binary("data/target.bin", reinterpret_cast<float*>(h_target.data()), EDGES);

  int* d_source;
  cudaMalloc(&d_source, EDGES * sizeof(int));
  cudaMemcpy(d_source, h_source.data(), EDGES * sizeof(int), cudaMemcpyHostToDevice);
  int* d_target;
  cudaMalloc(&d_target, EDGES * sizeof(int));
  cudaMemcpy(d_target, h_target.data(), EDGES * sizeof(int), cudaMemcpyHostToDevice);
  int* d_degree;
  cudaMalloc(&d_degree, n * sizeof(int));
  int* d_loops;
  cudaMalloc(&d_loops, NODES * sizeof(int));

  cudaMemset(d_degree, 0, n * sizeof(int));
  cudaMemset(d_loops, 0, NODES * sizeof(int));
  dim3 block(256);
  dim3 grid((EDGES + 255) / 256);
  count_degrees<<<grid, block>>>(d_source, d_target, d_degree, d_loops, EDGES);
  cudaDeviceSynchronize();

  cudaMemcpy(h_degree.data(), d_degree, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_loops.data(), d_loops, NODES * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/degree.bin", reinterpret_cast<const float*>(h_degree.data()), n);
  write_binary("data/loops.bin", reinterpret_cast<const float*>(h_loops.data()), NODES);

  cudaFree(d_source);
  cudaFree(d_target);
  cudaFree(d_degree);
  cudaFree(d_loops);
  return 0;
}
