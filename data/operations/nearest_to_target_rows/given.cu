const int ROWS = 60;
const int COLS = 500;

__global__ void nearest_element(const float* x, const float* target, int* index, float* gap, int cols) {
  __shared__ float best_gap[256];
  __shared__ int best_index[256];
  int t = threadIdx.x;
  const float* row = x + (size_t)blockIdx.x * cols;
  float goal = target[blockIdx.x];
  float smallest = FLT_MAX;
  int where = cols;
  for (int c = t; c < cols; c += 256) {
    float distance = fabsf(row[c] - goal);
    if (distance < smallest) {
      smallest = distance;
      where = c;
    }
  }
  best_gap[t] = smallest;
  best_index[t] = where;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) {
      bool closer = best_gap[t + s] < best_gap[t];
      bool tie = best_gap[t + s] == best_gap[t] && best_index[t + s] < best_index[t];
      if (closer || tie) {
        best_gap[t] = best_gap[t + s];
        best_index[t] = best_index[t + s];
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    index[blockIdx.x] = best_index[0];
    gap[blockIdx.x] = best_gap[0];
  }
}

int main() {
  float* h_x = new float[ROWS * COLS];
  read_binary("data/x.bin", h_x, ROWS * COLS);
  float* h_target = new float[ROWS];
  read_binary("data/target.bin", h_target, ROWS);

  float* d_x = nullptr;
  float* d_target = nullptr;
  int* d_index = nullptr;
  float* d_gap = nullptr;
  cudaMalloc(&d_x, sizeof(float) * ROWS * COLS);
  cudaMemcpy(d_x, h_x, sizeof(float) * ROWS * COLS, cudaMemcpyHostToDevice);
  cudaMalloc(&d_target, sizeof(float) * ROWS);
  cudaMemcpy(d_target, h_target, sizeof(float) * ROWS, cudaMemcpyHostToDevice);
  cudaMalloc(&d_index, sizeof(int) * ROWS);
  cudaMalloc(&d_gap, sizeof(float) * ROWS);

  nearest_element<<<ROWS, 256>>>(d_x, d_target, d_index, d_gap, COLS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  int* h_index = new int[ROWS];
  float* h_gap = new float[ROWS];
  cudaMemcpy(h_index, d_index, sizeof(int) * ROWS, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_gap, d_gap, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
  write_binary("data/index.bin", reinterpret_cast<const float*>(h_index), ROWS);
  write_binary("data/gap.bin", h_gap, ROWS);

  cudaFree(d_x);
  delete[] h_x;
  cudaFree(d_target);
  delete[] h_target;
  cudaFree(d_index);
  delete[] h_index;
  cudaFree(d_gap);
  delete[] h_gap;
  return 0;
}
