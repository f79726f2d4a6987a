constexpr int CHANNELS = 16;
constexpr int LENGTH = 1000;
#define OUT (LENGTH - 12)

__global__ void dilated_min(const float* signal, float* low, int* offset, int length) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y;
  if (t >= OUT) return;
  const float* s = signal + (size_t)c * length + t;
  float best = s[0];
  int where = 0;
  for (int k = 1; k < 5; k++) {
    if (s[3 * k] < best) {
      best = s[3 * k];
      where = k;
    }
  }
  low[(size_t)c * OUT + t] = best;
  offset[(size_t)c * OUT + t] = where;
}

int main() {
  size_t n_signal = static_cast<size_t>(CHANNELS) * LENGTH;
  size_t n_low = static_cast<size_t>(CHANNELS) * OUT;
  const size_t signal_bytes = n_signal * sizeof(float);
  const size_t low_bytes = n_low * sizeof(float);
  const size_t offset_bytes = n_low * sizeof(int);

  std::vector<float> h_signal(n_signal);
  std::vector<float> h_low(n_low);
  std::vector<int> h_offset(n_low);
  read_binary("data/signal.bin", h_signal.data(), n_signal);

  float *d_signal, *d_low;
  int *d_offset;
  cudaMalloc(&d_signal, signal_bytes);
  cudaMemcpy(d_signal, h_signal.data(), signal_bytes, cudaMemcpyHostToDevice);
  cudaMalloc(&d_low, low_bytes);
  cudaMalloc(&d_offset, offset_bytes);

  dim3 block(256);
  dim3 grid((OUT + block.x - 1) / block.x, CHANNELS);
  dilated_min<<<grid, block>>>(d_signal, d_low, d_offset, LENGTH);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << "\n";
    return 1;
  }

  cudaMemcpy(h_low.data(), d_low, low_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/low.bin", h_low.data(), n_low);
  cudaMemcpy(h_offset.data(), d_offset, offset_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/offset.bin", reinterpret_cast<const float*>(h_offset.data()), n_low);

  cudaFree(d_signal);
  cudaFree(d_low);
  cudaFree(d_offset);

  return 0;
}
