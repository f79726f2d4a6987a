const int ROWS = 100;
const int BINS = 150;
const int THREADS = 128;

__global__ void peak_rows(const float* response, float* position, float* height, int bins) {
  __shared__ float best[THREADS];
  __shared__ int where[THREADS];
  const float* row = response + blockIdx.x * bins;
  int t = threadIdx.x;
  best[t] = -FLT_MAX;
  where[t] = bins;
  for (int i = t; i < bins; i += THREADS) {
    if (row[i] > best[t]) {
      best[t] = row[i];
      where[t] = i;
    }
  }
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (t < s) {
      float v = best[t + s];
      int w = where[t + s];
      if (v > best[t] || (v == best[t] && w < where[t])) {
        best[t] = v;
        where[t] = w;
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    int k = where[0];
    float shift = 0.0f;
    float top = best[0];
    if (k > 0 && k < bins - 1) {
      float slope = row[k - 1] - row[k + 1];
      float curve = row[k - 1] - 2.0f * best[0] + row[k + 1];
      if (curve != 0.0f) {
        shift = 0.5f * slope / curve;
        top -= 0.25f * slope * shift;
      }
    }
    position[blockIdx.x] = k + shift;
    height[blockIdx.x] = top;
  }
}

int main() {
  const int size = ROWS * BINS;
  std::vector<float> h_response(size);
  read_binary("data/response.bin", h_response.data(), size);
  float* d_response = nullptr;
  cudaMalloc(&d_response, size * sizeof(float));
  cudaMemcpy(d_response, h_response.data(), size * sizeof(float), cudaMemcpyHostToDevice);

  std::vector<float> h_position(ROWS);
  float* d_position = nullptr;
  cudaMalloc(&d_position, sizeof(float) * ROWS);
  std::vector<float> h_height(ROWS);
  float* d_height = nullptr;
  cudaMalloc(&d_height, sizeof(float) * ROWS);

  peak_rows<<<ROWS, THREADS>>>(d_response, d_position, d_height, BINS);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "error\n";
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_position.data(), d_position, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
  write_binary("data/position.bin", h_position.data(), ROWS);
  cudaMemcpy(h_height.data(), d_height, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
  write_binary("data/height.bin", h_height.data(), ROWS);

  cudaFree(d_response);
  cudaFree(d_position);
  cudaFree(d_height);
  return 0;
}
