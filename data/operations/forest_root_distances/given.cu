constexpr int NODES = 3000;

__global__ void climb_to_root(const int* parent, const float* length, int* root, float* distance, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int at = v;
  float sum = 0.0f;
  while (parent[at] != at) {
    sum += length[at];
    at = parent[at];
  }
  root[v] = at;
  distance[v] = sum;
}

int main() {
  const size_t buffer_bytes = NODES * sizeof(float);

  int* h_parent = new int[NODES];
  float* h_length = new float[NODES];
  int* h_root = new int[NODES];
  float* h_distance = new float[NODES];
  read_binary("data/parent.bin", reinterpret_cast<float*>(h_parent), NODES);
  read_binary("data/length.bin", h_length, NODES);

  int* d_parent = nullptr;
  cudaMalloc(&d_parent, NODES * sizeof(int));
  cudaMemcpy(d_parent, h_parent, NODES * sizeof(int), cudaMemcpyHostToDevice);
  float* d_length = nullptr;
  cudaMalloc(&d_length, buffer_bytes);
  cudaMemcpy(d_length, h_length, buffer_bytes, cudaMemcpyHostToDevice);
  int* d_root = nullptr;
  cudaMalloc(&d_root, NODES * sizeof(int));
  float* d_distance = nullptr;
  cudaMalloc(&d_distance, buffer_bytes);

  dim3 block(256);
  dim3 grid((NODES + 255) / 256);
  climb_to_root<<<grid, block>>>(d_parent, d_length, d_root, d_distance, NODES);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "launch failed\n";
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_root, d_root, NODES * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_distance, d_distance, buffer_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/root.bin", reinterpret_cast<const float*>(h_root), NODES);
  write_binary("data/distance.bin", h_distance, NODES);

  delete[] h_parent;
  delete[] h_length;
  delete[] h_root;
  delete[] h_distance;
  cudaFree(d_parent);
  cudaFree(d_length);
  cudaFree(d_root);
  cudaFree(d_distance);
  return 0;
}
