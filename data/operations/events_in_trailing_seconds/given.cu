#define SOURCES 40
#define EVENTS 400

__global__ void trailing_window(const float* time, const float* amount, int* recent, float* volume,
                int sources, int events) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= sources * events) return;
  int first = k / events * events;
  float limit = time[k] - 8.0f;
  int count = 0;
  float sum = 0.0f;
  for (int j = k; j >= first && time[j] > limit; --j) {
    count++;
    sum += amount[j];
  }
  recent[k] = count;
  volume[k] = sum;
}

int main() {
  const int numel = SOURCES * EVENTS;
  const size_t buffer_bytes = numel * sizeof(float);
  std::vector<float> h_time(numel);
  std::vector<float> h_amount(numel);
  std::vector<int> h_recent(numel);
  std::vector<float> h_volume(numel);
  read_binary("data/time.bin", h_time.data(), numel);
  read_binary("data/amount.bin", h_amount.data(), numel);

  float* d_time;
  cudaMalloc(&d_time, buffer_bytes);
  cudaMemcpy(d_time, h_time.data(), buffer_bytes, cudaMemcpyHostToDevice);
  float* d_amount;
  cudaMalloc(&d_amount, buffer_bytes);
  cudaMemcpy(d_amount, h_amount.data(), buffer_bytes, cudaMemcpyHostToDevice);
  int* d_recent;
  cudaMalloc(&d_recent, numel * sizeof(int));
  float* d_volume;
  cudaMalloc(&d_volume, buffer_bytes);

  const int threads = 256;
  const int blocks = (numel + threads - 1) / threads;
  trailing_window<<<blocks, threads>>>(d_time, d_amount, d_recent, d_volume, SOURCES, EVENTS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_recent.data(), d_recent, numel * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_volume.data(), d_volume, buffer_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/recent.bin", reinterpret_cast<const float*>(h_recent.data()), numel);
  write_binary("data/volume.bin", h_volume.data(), numel);

  cudaFree(d_volume);
  cudaFree(d_recent);
  cudaFree(d_amount);
  cudaFree(d_time);
  return 0;
}
