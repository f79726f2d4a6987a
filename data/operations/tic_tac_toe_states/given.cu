const int N = 4000;

__device__ bool wins(const uint8_t* b, int p) {
  for (int k = 0; k < 3; ++k) {
    if (b[3 * k] == p && b[3 * k + 1] == p && b[3 * k + 2] == p) return true;
    if (b[k] == p && b[k + 3] == p && b[k + 6] == p) return true;
  }
  if (b[4] != p) return false;
  return (b[0] == p && b[8] == p) || (b[2] == p && b[6] == p);
}

__global__ void judge_boards(const uint8_t* boards, uint8_t* state, int* totals, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint8_t* b = boards + 9 * i;
  int ones = 0;
  int twos = 0;
  for (int k = 0; k < 9; ++k) {
    if (b[k] == 1) ++ones;
    if (b[k] == 2) ++twos;
  }
  bool win1 = wins(b, 1);
  bool win2 = wins(b, 2);
  int extra = ones - twos;
  bool impossible = extra < 0 || extra > 1 || (win1 && win2) || (win1 && extra == 0) || (win2 && extra == 1);
  int code = 0;
  if (impossible) code = 4;
  else if (win1) code = 1;
  else if (win2) code = 2;
  else if (ones + twos == 9) code = 3;
  state[i] = (uint8_t)code;
  atomicAdd(&totals[code], 1);
}

int main() {
  const size_t boards_floats = (N * 9 + 3) / 4;

  uint8_t* h_boards = new uint8_t[4 * boards_floats];
  uint8_t* h_state = new uint8_t[N];
  int* h_totals = new int[5];
  read_binary("data/boards.bin", reinterpret_cast<float*>(h_boards), boards_floats);

  uint8_t *d_boards, *d_state;
  int *d_totals;
  cudaMalloc(&d_boards, N * 9 * sizeof(uint8_t));
  cudaMalloc(&d_state, N * sizeof(uint8_t));
  cudaMalloc(&d_totals, 5 * sizeof(int));

  cudaMemcpy(d_boards, h_boards, N * 9 * sizeof(uint8_t), cudaMemcpyHostToDevice);

  cudaMemset(d_totals, 0, 5 * sizeof(int));
  judge_boards<<<(N + 255) / 256, 256>>>(d_boards, d_state, d_totals, N);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_state, d_state, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream out("data/state.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_state), N);
  cudaMemcpy(h_totals, d_totals, 5 * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/totals.bin", reinterpret_cast<const float*>(h_totals), 5);

  cudaFree(d_boards);
  cudaFree(d_state);
  cudaFree(d_totals);
  delete[] h_boards;
  delete[] h_state;
  delete[] h_totals;
  return 0;
}
