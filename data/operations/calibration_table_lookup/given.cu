const int N = 20000;
const int NODES = 17;

__global__ void calibrate(const float* raw, const float* node, const float* value, float* corrected,
                          int n, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = raw[i];
  if (x <= node[0]) {
    corrected[i] = value[0];
    return;
  }
  if (x >= node[nodes - 1]) {
    corrected[i] = value[nodes - 1];
    return;
  }
  int low = 0;
  int high = nodes - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (node[middle] <= x) low = middle;
    else high = middle;
  }
  float t = (x - node[low]) / (node[high] - node[low]);
  corrected[i] = value[low] + t * (value[high] - value[low]);
}

int main() {
  std::vector<float> h_raw(N);
  read_binary("data/raw.bin", h_raw.data(), N);
  std::vector<float> h_node(NODES);
  read_binary("data/node.bin", h_node.data(), NODES);
  std::vector<float> h_value(NODES);
  read_binary("data/value.bin", h_value.data(), NODES);

  float* d_raw = nullptr;
  float* d_node = nullptr;
  float* d_value = nullptr;
  float* d_corrected = nullptr;
  cudaMalloc(&d_raw, N * sizeof(float));
  cudaMemcpy(d_raw, h_raw.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_node, NODES * sizeof(float));
  cudaMemcpy(d_node, h_node.data(), NODES * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_value, NODES * sizeof(float));
  cudaMemcpy(d_value, h_value.data(), NODES * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_corrected, N * sizeof(float));

  int threads = 256;
  int blocks = (N + threads - 1) / threads;
  calibrate<<<blocks, threads>>>(d_raw, d_node, d_value, d_corrected, N, NODES);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "calibration kernel: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  std::vector<float> h_corrected(N);
  cudaMemcpy(h_corrected.data(), d_corrected, N * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/corrected.bin", h_corrected.data(), N);

  cudaFree(d_raw);
  cudaFree(d_node);
  cudaFree(d_value);
  cudaFree(d_corrected);
  return 0;
}
