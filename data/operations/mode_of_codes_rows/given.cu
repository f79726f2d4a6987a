const int ROWS = 60;
const int COLS = 700;

__global__ void most_frequent_code(const uint8_t* codes, uint8_t* mode, int* times, int cols) {
  __shared__ int counts[64];
  int tid = threadIdx.x;
  const uint8_t* row = codes + (size_t)blockIdx.x * cols;
  if (tid < 64) counts[tid] = 0;
  __syncthreads();
  for (int c = tid; c < cols; c += blockDim.x) {
    atomicAdd(&counts[row[c]], 1);
  }
  __syncthreads();
  if (tid == 0) {
    int best = 0;
    for (int code = 1; code < 64; ++code) {
      if (counts[code] > counts[best]) best = code;
    }
    mode[blockIdx.x] = (uint8_t)best;
    times[blockIdx.x] = counts[best];
  }
}

int main() {
  const int numel = ROWS * COLS;

  uint8_t* h_codes = new uint8_t[(numel + 3) / 4 * 4];
  uint8_t* h_mode = new uint8_t[ROWS];
  int* h_times = new int[ROWS];

  read_binary("data/codes.bin", reinterpret_cast<float*>(h_codes), (numel + 3) / 4);

  uint8_t* d_codes = nullptr;
  uint8_t* d_mode = nullptr;
  int* d_times = nullptr;
  cudaMalloc((void**)&d_codes, numel * sizeof(uint8_t));
  cudaMalloc((void**)&d_mode, ROWS * sizeof(uint8_t));
  cudaMalloc((void**)&d_times, ROWS * sizeof(int));
  cudaMemcpy(d_codes, h_codes, numel * sizeof(uint8_t), cudaMemcpyHostToDevice);

  dim3 grid(ROWS);
  dim3 block(256);
  most_frequent_code<<<grid, block>>>(d_codes, d_mode, d_times, COLS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << '\n';
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_mode, d_mode, ROWS * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_times, d_times, ROWS * sizeof(int), cudaMemcpyDeviceToHost);

  std::ofstream out("data/mode.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_mode), ROWS);
  out.close();
  write_binary("data/times.bin", reinterpret_cast<float*>(h_times), ROWS);

  delete[] h_codes;
  delete[] h_mode;
  delete[] h_times;
  cudaFree(d_codes);
  cudaFree(d_mode);
  cudaFree(d_times);
  return 0;
}
