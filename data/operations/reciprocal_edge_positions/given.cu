const int NODES = 500;
const int ENTRIES = 4000;

__global__ void find_reverse(const int* row_start, const int* neighbor, int* reverse, int* mutual, int nodes) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes) return;
  int count = 0;
  for (int k = row_start[v]; k < row_start[v + 1]; ++k) {
    int u = neighbor[k];
    int position = -1;
    for (int j = row_start[u]; j < row_start[u + 1]; ++j) {
      if (neighbor[j] == v) {
        position = j;
        break;
      }
    }
    reverse[k] = position;
    if (position >= 0) ++count;
  }
  mutual[v] = count;
}

int main() {
  const int n = NODES + 1;
  std::vector<int> h_row_start(n);
  read_binary("data/row_start.bin", reinterpret_cast<float*>(h_row_start.data()), n);
  std::vector<int> h_neighbor(ENTRIES);
  read_binary("data/neighbor.bin", reinterpret_cast<float*>(h_neighbor.data()), ENTRIES);
  std::vector<int> h_reverse(ENTRIES);
  std::vector<int> h_mutual(NODES);

  int* d_row_start;
  int* d_neighbor;
  int* d_reverse;
  int* d_mutual;
  cudaMalloc(&d_row_start, n * sizeof(int));
  cudaMalloc(&d_neighbor, ENTRIES * sizeof(int));
  cudaMalloc(&d_reverse, ENTRIES * sizeof(int));
  cudaMalloc(&d_mutual, NODES * sizeof(int));
  cudaMemcpy(d_row_start, h_row_start.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_neighbor, h_neighbor.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);

  const int block = 128;
  find_reverse<<<(NODES + block - 1) / block, block>>>(d_row_start, d_neighbor, d_reverse, d_mutual, NODES);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  cudaMemcpy(h_reverse.data(), d_reverse, ENTRIES * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/reverse.bin", reinterpret_cast<const float*>(h_reverse.data()), ENTRIES);
  cudaMemcpy(h_mutual.data(), d_mutual, NODES * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/mutual.bin", reinterpret_cast<const float*>(h_mutual.data()), NODES);

  cudaFree(d_row_start);
  cudaFree(d_neighbor);
  cudaFree(d_reverse);
  cudaFree(d_mutual);
  return 0;
}
